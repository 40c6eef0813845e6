import { expect, test } from "vitest";
import { openDefect, tryOn } from "../../fixtures/reference/lab.ts";
import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./state-14-many-runs.ts";

testRule(rule, {
  defects: {
    "state-14-gone-folders-stay-gone": /does not give all rows that are new in it: 7 rows missing/,
    "state-14-cursors-of-gone-folders": /a row of GET \/v1\/folders goes.*the state grows/,
    "state-14-one-cursor-for-all-folders":
      /a read has ended, a row of .*folders comes.*gives them: .*rows? missing/,
    "state-14-empty-folders-are-over":
      /at first none below some parents: run 5, .* does not give all rows/,
    "state-14-missing-folder-is-left-out-next":
      /is not found by one read, and by the next it is: from .* rows? missing/,
    "state-14-history-of-cursors": /rows come, go and come back: the state grows in every run/,
  },
  good: ["the-last-hundred-ids"],
});

test("a state that is a token of the provider's is not judged by a listing that the kit has changed", async () => {
  await using lab = await openDefect("by-token", 0.1);
  const { result, reason, problems } = await tryOn(rule, lab);
  expect(problems.map(({ sentence }) => sentence)).toEqual([]);
  expect([result, reason]).toEqual(["not-applicable", expect.stringContaining("token")]);
});
