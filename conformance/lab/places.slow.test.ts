import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { openDefect, openReference, tryOn } from "../../fixtures/reference/lab.ts";
import { terminalLimits } from "../report/evidence.ts";
import { failureLines } from "../report/failure.ts";
import asksData from "../rules/check-04-rejected-credentials-fail.ts";
import readsLittle from "../rules/check-06-reads-little.ts";

/** "name.ts:12", the line of a seeded defect that holds the text. */
function lineOf(name: string, text: string): string {
  const source = readFileSync(new URL(`../../fixtures/broken/${name}.ts`, import.meta.url), "utf8");
  const before = source.slice(0, source.indexOf(text));
  return `${name}.ts:${before.split("\n").length}`;
}

test.each([
  ["a program", "check-06-writes-a-note", readsLittle, "run.parts.send("],
  ["a connector", "check-04-asks-who-it-is", asksData, "ctx.http.get("],
] as const)("a failure shows the lines of %s that sent a request", async (_, name, rule, text) => {
  await using lab = await openDefect(name);
  const shown = failureLines(await tryOn(rule, lab), terminalLimits).join("\n");
  expect(shown).toMatch(new RegExp(`asked for in .*${lineOf(name, text)}`));
});

test("a request of a connector in a worker has its lines too, through the runtime's helpers", async () => {
  await using lab = await openReference("connector", 1, 1, "worker");
  for (const { observation } of await lab.golden())
    expect(observation.exchanges.map(({ place }) => place ?? "")).toEqual(
      observation.exchanges.map(() => expect.stringMatching(/^index\.ts:\d+/)),
    );
});
