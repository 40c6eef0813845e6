import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./check-04-rejected-credentials-fail.ts";

testRule(rule, {
  defects: {
    "check-04-missing-permission-is-an-outage": /403.* as transient/,
    "check-04-forbidden-is-good-enough": /403, check succeeded/,
  },
});
