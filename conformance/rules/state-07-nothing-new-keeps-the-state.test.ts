import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./state-07-nothing-new-keeps-the-state.ts";

testRule(rule, {
  defects: {
    "state-07-empty-run-empty-cursor": /since is "" instead of/,
    "state-07-empty-run-writes-the-time": /7 rows missing/,
  },
});
