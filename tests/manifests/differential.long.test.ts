/**
 * Manifests read by Airbyte's own interpreter and by this one: the same requests in the same order
 * within a part, the same records, the same states, the same waits, before and after a first read; and the
 * same fields of the same streams.
 */
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readCase } from "./cases.ts";
import { type Cdk, installCdk, startCdk } from "./cdk.ts";
import { openHere, type Reading } from "./read-here.ts";

const cases = fileURLToPath(new URL("cases/", import.meta.url));
const files = (await readdir(cases)).filter((name) => name.endsWith(".yaml")).sort();
const timeoutMs = 600_000;

let folder: string;
let cdk: Cdk;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-manifests-"));
  cdk = await installCdk(folder);
}, timeoutMs);
afterAll(() => rm(folder, { recursive: true, force: true }));

describe("a manifest is read as Airbyte's own interpreter reads it", () => {
  test.for(files)("%s", { timeout: timeoutMs }, async (file, { skip }) => {
    if ("lack" in cdk) return skip(cdk.lack);
    const one = readCase(file, await readFile(join(cases, file), "utf8"));
    await using other = await startCdk(cdk.python);
    await using here = await openHere(one);
    const differences: string[] = [];
    const properties = here.streams.map((stream) => [stream.name, stream.properties]);
    expect(Object.fromEntries(properties), file).toEqual(await other.discover(one));
    for (const stream of here.streams) {
      const states = [undefined, ...(one.states[stream.name] ?? [])];
      for (let state = states.shift(), round = 1; round < 9; state = states.shift(), round++) {
        const theirs = await other.read(one, stream, state);
        const ours = await here.read(stream, state);
        const isMeant = one.fails.includes(stream.name);
        if (theirs.failed !== isMeant) throw new Error(`${file} ${stream.name}: ${theirs.reason}`);
        const told = `${file} ${stream.name}, reading ${round}`;
        differences.push(...compare(theirs, ours).map((difference) => `${told}: ${difference}`));
        // What one of them has left, both go on from.
        if (round === 1 && stream.isIncremental) states.unshift(theirs.state);
        if (states.length === 0) break;
      }
    }
    expect(differences.join("\n")).toBe("");
  });
});

/** What differs, and where first: a failure before records, records before requests. */
function compare(theirs: Reading, ours: Reading): string[] {
  const lines = (part: Reading[keyof Reading]) =>
    Array.isArray(part) ? part : [JSON.stringify(part)];
  return (["waits", "order", "requests", "state", "records", "failed"] as const)
    .flatMap((part) => {
      const [left, right] = [lines(theirs[part]), lines(ours[part])];
      const at = left.findIndex((line, index) => line !== right[index]);
      if (at === -1 && left.length === right.length) return [];
      const first = at === -1 ? left.length : at;
      const because = part === "failed" ? ` because ${theirs.reason}${ours.reason}` : "";
      return [
        `${part}: ${left.length} there, ${right.length} here; there ${left[first]}, here ${right[first]}${because}`,
      ];
    })
    .slice(-1);
}
