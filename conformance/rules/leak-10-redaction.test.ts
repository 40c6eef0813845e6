import { expect, test } from "vitest";
import { testRule } from "../../fixtures/reference/test-rule.ts";
import type { Lab } from "../contract/lab.ts";
import type { Observation } from "../contract/observation.ts";
import type { Reporter } from "../contract/rule.ts";
import rule from "./leak-10-redaction.ts";

testRule(rule, {
  defects: {
    "leak-10-short-secret-masked-everywhere": /api_token is "a"/,
    "leak-10-secret-as-pattern": /a\(b\[c.*the run failed/,
  },
});

/** The sentences of the rule about such runs. */
async function judged(runs: readonly object[]): Promise<readonly string[]> {
  const found: string[] = [];
  const report = {
    checked: () => undefined,
    fail: (sentence: string) => void found.push(sentence),
  };
  await rule.run(
    { canaries: [], target: { kind: "worker" }, once: async () => runs } as unknown as Lab,
    report as unknown as Reporter,
  );
  return found;
}

test("a connector whose spec admits an empty secret may refuse it all the same", async () => {
  const observed = (outcome: object) =>
    ({
      command: { verb: "check", config: {} },
      messages: [],
      exchanges: [],
      outcome,
    }) as unknown as Observation;
  const refused = observed({
    status: "failed",
    failures: [{ message: "api_token is missing.", classes: ["config"] }],
  });
  const runs = [
    {
      name: "empty",
      secret: "",
      normal: observed({ status: "succeeded", failures: [] }),
      observation: refused,
    },
    {
      name: "a",
      secret: "a",
      normal: observed({ status: "succeeded", failures: [] }),
      observation: refused,
    },
  ];
  const found = await judged(runs);
  expect(found).toEqual([expect.stringMatching(/^a: the run failed/)]);
});

test("the moment of a row is no difference, as Python writes it neither", async () => {
  const observed = (...lines: readonly string[]) =>
    ({
      command: { verb: "read", config: {}, catalog: { streams: [] } },
      messages: lines.map((line) => ({ message: JSON.parse(line), line })),
      exchanges: [],
      outcome: { status: "succeeded", failures: [] },
    }) as unknown as Observation;
  const row = (id: number, at: number) =>
    `{"type": "RECORD", "record": {"stream": "notes", "data": {"id": ${id}}, "emitted_at": ${at}}}`;
  const normal = observed(row(1, 1795739835792));
  const runs = [
    { name: "same", secret: "a", normal, observation: observed(row(1, 1795739836153.5)) },
    { name: "other", secret: "1", normal, observation: observed(row(2, 1795739836153)) },
  ];
  const found = await judged(runs);
  expect(found).toEqual(["other: a message is another one than with another secret."]);
});
