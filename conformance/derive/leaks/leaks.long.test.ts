import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { canaryValue } from "../../fixtures/canaries.ts";
import { createLeakSearch } from "./leaks.ts";

/**
 * Enough code, JSON, source maps, prose, base64 and tables of numbers to show a habit of false
 * alarms.
 */
const cleanBytes = 80e6;
/** Leaves out native programs. */
const largestFile = 5e6;

test("no leak is reported in 80 MB of other people's files", { timeout: 300_000 }, () => {
  const canaries = Array.from({ length: 10 }, (_, index) => ({
    name: `config ${index}`,
    value: canaryValue(index, "token"),
  }));
  const search = createLeakSearch(canaries);
  let read = 0;
  const falseAlarms: string[] = [];
  for (const file of filesIn("node_modules")) {
    if (read > cleanBytes) break;
    const bytes = readFileSync(file);
    if (bytes.length > largestFile) continue;
    read += bytes.length;
    const text = bytes.toString("latin1");
    if (!search.isClean([text]))
      falseAlarms.push(
        `${file}: ${search.find(text).map(({ canary, encoding }) => `${canary.name} as ${encoding}`)}`,
      );
  }
  expect(falseAlarms).toEqual([]);
  expect(read).toBeGreaterThan(cleanBytes);
  expect(canaries.every(({ value }) => search.find(`x ${value}`).length === 1)).toBe(true);
});

function* filesIn(folder: string): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true }).toSorted((one, other) =>
    one.name < other.name ? -1 : 1,
  )) {
    const path = join(folder, entry.name);
    // Files of Node's compile cache come and go while other tests run.
    if (entry.name === ".cache") continue;
    if (entry.isDirectory()) yield* filesIn(path);
    else if (entry.isFile()) yield path;
  }
}
