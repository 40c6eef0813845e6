import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./retry-07-vendor-limits.ts";

testRule(rule, {
  defects: {
    "retry-07-nothing-remaining-is-permission": /remaining: 0.*permission/,
    "retry-07-secondary-limit-skips": /secondary rate limit/,
  },
});
