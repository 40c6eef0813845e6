import { expect, test } from "vitest";
import { openDefect, tryOn } from "../../fixtures/reference/lab.ts";
import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./state-07-nothing-new-keeps-the-state.ts";

testRule(rule, {
  defects: {
    "state-07-empty-run-empty-cursor": /since is "" instead of/,
    "state-07-empty-run-writes-the-time": /7 rows missing/,
  },
});

test("a state that forgets parents which are gone is not blamed", async () => {
  await using lab = await openDefect("by-folder-pruned", 0.1);
  const { result, problems } = await tryOn(rule, lab);
  expect(problems.map(({ sentence }) => sentence)).toEqual([]);
  expect(result).toBe("pass");
});
