import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./state-11-upper-bound-captured-once.ts";

testRule(rule, {
  defects: {
    "state-11-bound-at-the-end": /does not give the change: 1 row changed/,
  },
});
