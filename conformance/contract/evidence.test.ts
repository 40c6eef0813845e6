import { expect, test } from "vitest";
import { messageEvidence } from "./evidence.ts";
import type { Observation } from "./observation.ts";

const run = (status: string, lines: readonly string[], errorOutput: string) =>
  ({
    messages: lines.map((line) => ({ line })),
    outcome: { status, failures: [] },
    traces: { errorOutput },
  }) as unknown as Observation;

test("of a run that crashed without a message its standard error is shown", () => {
  expect(messageEvidence("Messages", run("crashed", [], "KeyError: 'api_token'"), [])).toEqual({
    kind: "text",
    title: "No message; standard error",
    text: "KeyError: 'api_token'",
  });
});

test.each([
  ["it wrote messages", run("crashed", ["{}"], "KeyError"), ["{}"]],
  ["it did not crash", run("succeeded", [], "a warning"), []],
  ["it said nothing at all", run("crashed", [], ""), []],
])("messages are shown where %s", (_, observation, lines) => {
  expect(messageEvidence("Messages", observation, [])).toMatchObject({ kind: "messages", lines });
});
