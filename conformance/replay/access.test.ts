import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import nosy, { modest, nosyUses } from "../../fixtures/nosy/index.ts";
import type { Provider } from "../contract/network.ts";
import { runConnector } from "../lab/run-connector.ts";
import { createProgramTarget, type Program } from "../target/program.ts";
import { readSources } from "../target/sources.ts";

const provider: Provider = {
  answer: () => ({ status: 200, headers: {}, body: Buffer.from("{}") }),
  unused: () => [],
};
const sources = readSources(new URL("../../fixtures/nosy/index.ts", import.meta.url).href);

async function accessesOf(program: Program, watchAccess = true) {
  const seen = await runConnector(
    createProgramTarget(program, sources),
    { verb: "spec" },
    { provider, startMs: 0, watchAccess },
  );
  expect(seen.outcome.status).toBe("succeeded");
  return seen.traces.accesses;
}

test("every use of files, environment, clock, random numbers, network and processes is reported, with its line", async () => {
  const found = (await accessesOf(nosy)) ?? [];
  for (const name of Object.keys(nosyUses)) {
    const where = found.find(({ what }) => what === name)?.where;
    expect([name, where]).toEqual([name, expect.stringMatching(/^index\.ts:\d+$/)]);
  }
});

test("what a program does with what it was handed is nothing of its own", async () => {
  expect(await accessesOf(modest)).toEqual([]);
});

test("nothing is watched unasked, and everything is as before afterwards", async () => {
  const before = [Date, Math.random, process.env, readFileSync, globalThis.fetch];
  expect(await accessesOf(nosy, false)).toBeUndefined();
  await accessesOf(nosy);
  expect([Date, Math.random, process.env, readFileSync, globalThis.fetch]).toEqual(before);
  expect(Object.hasOwn(performance, "now") || Object.hasOwn(globalThis.crypto, "randomUUID")).toBe(
    false,
  );
});
