import { expect, test } from "vitest";
import { testRule } from "../../fixtures/reference/test-rule.ts";
import type { Lab } from "../contract/lab.ts";
import type { Reporter } from "../contract/rule.ts";
import rule from "./read-02-message-grammar.ts";

testRule(rule, {
  defects: {
    "read-02-no-end": /started and has no COMPLETE/,
    "read-02-rows-after-the-end": /a RECORD of folders comes after its COMPLETE/,
    "read-02-rows-before-the-start": /RECORD of folders comes before its STARTED/,
  },
});

test.each([
  ["an image's last state may come after its end, as Airbyte's CDK sends it", "container", []],
  ["a connector's may not", "worker", ["a STATE of notes comes after its COMPLETE."]],
])("%s", async (_, kind, sentences) => {
  const stream_descriptor = { name: "notes" };
  const status = (name: string) => ({
    type: "TRACE",
    trace: { type: "STREAM_STATUS", stream_status: { stream_descriptor, status: name } },
  });
  const state = { type: "STATE", state: { stream: { stream_descriptor, stream_state: {} } } };
  const observation = {
    command: { verb: "read", config: {}, catalog: { streams: [] } },
    messages: [status("STARTED"), status("COMPLETE"), state].map((message) => ({
      message,
      line: JSON.stringify(message),
    })),
    outcome: { status: "succeeded", failures: [] },
  };
  const found: string[] = [];
  await rule.run(
    {
      target: { kind },
      everyRun: async () => [{ name: "notes", observation }],
    } as unknown as Lab,
    {
      checked: () => undefined,
      fail: (sentence: string) => void found.push(sentence.replace("notes: ", "")),
    } as unknown as Reporter,
  );
  expect(found).toEqual(sentences);
});
