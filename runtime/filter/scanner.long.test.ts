import { type Dirent, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createScanner } from "./scanner.ts";
import { insideJson, secretViews } from "./secret-views.ts";
import { createSecretRegistry } from "./secrets.ts";

/**
 * Enough code, JSON, source maps, prose, base64 and tables of numbers to show a habit of false
 * alarms.
 */
const corpusBytes = 80e6;
/** Leaves out native programs. */
const largestFile = 5e6;

test("ten secrets give no false hit in 80 MB of other people's files", () => {
  const secrets = Array.from({ length: 10 }, (_, index) => pseudoRandomSecret(index + 1));
  const views = secrets.flatMap((secret) => secretViews(secret));
  const scanner = createScanner([...views, ...insideJson(views)]);
  const registry = createSecretRegistry();
  for (const secret of secrets) registry.add(secret);
  let read = 0;
  const falseHits: string[] = [];
  for (const file of filesIn("node_modules")) {
    const bytes = readFileSync(file);
    if (bytes.length > largestFile) continue;
    read += bytes.length;
    for (const { start, end } of scanner.find(bytes))
      falseHits.push(`${file}: ${bytes.toString("utf8", start, end)}`);
    // The same, and what stands under escapes.
    if (registry.contains(bytes)) falseHits.push(`${file}, without escapes`);
    if (read > corpusBytes) break;
  }
  expect(secrets.every((secret) => scanner.holds(Buffer.from(secret)))).toBe(true);
  expect(falseHits).toEqual([]);
  expect(read).toBeGreaterThan(corpusBytes);
});

function* filesIn(folder: string): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true }).toSorted(byName)) {
    const path = join(folder, entry.name);
    // Files of Node's compile cache come and go while other tests run.
    if (entry.name === ".cache") continue;
    if (entry.isDirectory()) yield* filesIn(path);
    else if (entry.isFile()) yield path;
  }
}

function byName(a: Dirent, b: Dirent): number {
  return a.name < b.name ? -1 : 1;
}

/** Park and Miller, 1988: the same secrets on every run. */
function pseudoRandomSecret(seed: number): string {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  let state = seed * 7_919;
  return Array.from({ length: 45 }, () => {
    state = (state * 48_271) % 2_147_483_647;
    return alphabet[state % alphabet.length];
  }).join("");
}
