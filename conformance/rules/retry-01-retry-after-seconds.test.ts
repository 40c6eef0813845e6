import { expect, test } from "vitest";
import { openInRealTime, tryOn } from "../../fixtures/reference/lab.ts";
import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./retry-01-retry-after-seconds.ts";

testRule(rule, {
  defects: {
    "retry-01-retry-after-unused": /after \d/,
    "retry-01-only-with-429": /answered 503/,
  },
});

test.each([
  ["meets it", undefined, "pass", /^$/],
  ["with a wait of its own is found", "retry-01-retry-after-unused", "fail", /: 2; .* after [01]/],
  ["that looks at 429 alone is found", "retry-01-only-with-429", "fail", /503 .* after [01]/],
])("a program whose waits are real ones %s", async (_, name, result, text) => {
  await using lab = await openInRealTime(name);
  const report = await tryOn(rule, lab);
  expect(report.problems.map(({ sentence }) => sentence).join("\n")).toMatch(text);
  expect(report.result).toBe(result);
});
