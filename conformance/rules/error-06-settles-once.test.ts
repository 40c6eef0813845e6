import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./error-06-settles-once.ts";

testRule(rule, {
  defects: {
    "error-06-floating-promise": /statistics could not be sent/,
    "error-06-timer-left": /Timeout/,
  },
});
