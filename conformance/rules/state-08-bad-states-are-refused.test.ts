import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./state-08-bad-states-are-refused.ts";

testRule(rule, {
  defects: {
    "state-08-corrupt-state-starts-anew": /in silence with 7 rows/,
    "state-08-state-not-declared": /"version":99/,
  },
});
