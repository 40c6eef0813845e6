import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./state-03-equal-cursor-values.ts";

testRule(rule, {
  defects: {
    "state-03-strictly-newer": /all rows share a cursor value.*missing/,
    "state-03-ties-behind-a-page": /all rows share a cursor value.*2 rows missing/,
    "state-03-microseconds-rounded": /differ by microseconds.*missing/,
  },
});
