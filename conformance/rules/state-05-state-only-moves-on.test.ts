import { expect, test } from "vitest";
import { openDefect, sharedReference, tryOn } from "../../fixtures/reference/lab.ts";
import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./state-05-state-only-moves-on.ts";

testRule(rule, {
  good: ["one-window-until-now"],
  defects: {
    "state-05-old-first-row-ends-a-resumed-read":
      /a row that is years older comes first, in a read from the final state: .*2 rows missing/,
    "state-05-undated-row-left-out-of-all-reads":
      /without a cursor value comes last, in a full refresh: .*1 row is missing/,
    "state-05-undated-page-ends-the-read":
      /a page of rows without a cursor value comes first: .*rows missing/,
    "state-05-pinned-row-ends-a-resumed-read":
      /an older row comes between new ones, in a read from the final state: .*1 row missing/,
    "state-05-undated-row-ends-its-window": /without a cursor value comes first: .*1 row missing/,
    "state-05-bookmark-of-the-last-row":
      /an older row comes last.*the state moves back: since went from/s,
    "state-05-times-compared-as-text": /written with other offsets.*falls short/,
    "state-05-undated-row-begins-anew":
      /alone, in a read from the final state: the state moves back/,
    "state-05-undated-row-ends-the-page": /without a cursor value comes first: .*1 row missing/,
    "state-05-unknown-kind-spoils-its-page": /of an unknown kind comes first: .*1 row missing/,
    "state-05-undated-row-is-not-new":
      /comes between new ones, in a read from the final state: .*1 row missing/,
    "state-05-resumed-page-ends-at-an-undated-row":
      /comes first, in a read from the final state: .*2 rows missing/,
    "state-05-undated-row-ends-a-resumed-read":
      /comes first, in a read from the final state: .*2 rows missing/,
  },
});

test("a read that is refused is no subject: the report says how many there were", async () => {
  const { subjects, untried } = await tryOn(rule, await sharedReference("connector", 0.1));
  expect(subjects.join("\n")).not.toMatch(/without|unknown/);
  expect(untried).toEqual([
    expect.stringMatching(
      /^notes: reads that are refused, and not compared, 12 of 21: a row without a/,
    ),
    expect.stringMatching(
      /^notes: reads that are left out, since one such row is refused, 4 of 21: a/,
    ),
  ]);
});

test("where the provider is not asked for the odd row, the report says so", async () => {
  await using lab = await openDefect("state-13-last-window-cut-off", 0.1);
  const { untried } = await tryOn(rule, lab);
  expect(untried).toContainEqual(
    expect.stringMatching(
      /^notes: reads that are not given the odd row, 8 of 16: an older row, a row/,
    ),
  );
});
