/**
 * Manifests read by Airbyte's own interpreter and by this one: the same requests in the same order
 * within a part, the same records, the same states, the same waits, before and after a first read;
 * and the same fields of the same streams.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { installPythonPackages, type PythonPackages } from "../python-packages.ts";
import { type Case, readCase } from "./cases.ts";
import { startCdk } from "./cdk.ts";
import { differences } from "./differences.ts";
import { type Reading, startHere } from "./read-here.ts";
import { smallCases } from "./small.ts";

const folder = fileURLToPath(new URL("cases/", import.meta.url));
const large = readdirSync(folder)
  .filter((name) => name.endsWith(".yaml"))
  .sort()
  .map((name) => readCase(name, readFileSync(folder + name, "utf8")));
const timeoutMs = 600_000;

let python: PythonPackages;
let there: Awaited<ReturnType<typeof startCdk>>;
let here: Awaited<ReturnType<typeof startHere>>;
beforeAll(async () => {
  python = await installPythonPackages();
  if (!("lack" in python)) there = await startCdk(join(python.bin, "python"));
}, timeoutMs);
afterAll(async () => {
  await there?.[Symbol.asyncDispose]();
});

describe("a manifest is read as Airbyte's own interpreter reads it", () => {
  for (const [kind, cases, sandbox] of [
    ["of many streams, in a sandbox", large, "process"],
    ["with one thing to say", smallCases, "inline"],
  ] as const)
    describe(kind, () => {
      beforeAll(async () => {
        here = await startHere(sandbox);
      });
      afterAll(() => here[Symbol.asyncDispose]());

      test.for(cases)("$file", { timeout: timeoutMs }, async (one, { skip }) => {
        if ("lack" in python) return skip(python.lack);
        expect(await (one.theirFault ? onlyHere : differencesOf)(one)).toEqual(expectedOf(one));
      });
    });
});

/** A difference that the table explains, in the part of a reading that it names; no other. */
function expectedOf({ file, differs, theirFault, ownWaits, ownRequests }: Case): unknown {
  const isLeftOut = theirFault || ownWaits.length > 0 || ownRequests.length > 0;
  if (differs === undefined || isLeftOut) return [];
  const part = differences.get(differs)?.part;
  return [expect.stringMatching(new RegExp(`^${file} ${file}, reading 1: ${part}: `))];
}

/** The cases that Airbyte's interpreter should read, and cannot: it is told when it can. */
async function onlyHere(one: Case): Promise<string[]> {
  const opened = await here.open(one);
  for (const stream of opened.streams) {
    const theirs = await there.read(one, stream, undefined);
    const ours = await opened.read(stream, undefined);
    expect(theirs.failed, `${one.file} is no fault of theirs any more`).toBe(true);
    if (ours.failed || ours.records.length === 0) return [`${one.file}: ${ours.reason}`];
  }
  return [];
}

async function differencesOf(one: Case): Promise<string[]> {
  const { file } = one;
  const opened = await here.open(one);
  const found: string[] = [];
  const properties = opened.streams.map((stream) => [stream.name, stream.properties]);
  // A case that refuses its settings has no streams there, and fails when it is read here.
  const isRefused = one.fails.length > 0 && !(await there.discover(one).catch(() => undefined));
  if (!isRefused) expect(Object.fromEntries(properties), file).toEqual(await there.discover(one));
  for (const stream of opened.streams) {
    const states = [undefined, ...(one.states[stream.name] ?? [])];
    for (let state = states.shift(), round = 1; round < 9; state = states.shift(), round++) {
      const theirs = await there.read(one, stream, state);
      const ours = await opened.read(stream, state);
      const isMeant = one.fails.includes(stream.name);
      if (theirs.failed !== isMeant) throw new Error(`${file} ${stream.name}: ${theirs.reason}`);
      const what = `${file} ${stream.name}, reading ${round}`;
      found.push(...compare(theirs, ours).map((difference) => `${what}: ${difference}`));
      // Both go on from the state that one of them has left.
      if (round === 1 && stream.isIncremental) states.unshift(theirs.state);
      if (states.length === 0) break;
    }
  }
  return found;
}

/** The most telling difference, if any, by its first line. */
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
