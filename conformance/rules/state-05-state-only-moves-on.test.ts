import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./state-05-state-only-moves-on.ts";

testRule(rule, {
  defects: {
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
