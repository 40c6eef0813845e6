import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./state-10-failure-is-no-end.ts";

testRule(rule, {
  defects: {
    "state-10-last-state-in-finally": /and all later ones were .* rows missing/,
  },
});
