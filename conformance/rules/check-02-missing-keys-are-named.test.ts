import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./check-02-missing-keys-are-named.ts";

testRule(rule, {
  defects: {
    "check-02-missing-token-breaks-the-code": /api_token is missing, and check failed/,
    "check-02-missing-token-is-sent": /sent a request all the same/,
    "check-02-missing-setting-not-named": /does not name it/,
    "spec-04-misspelt-required": /api_tokn is missing/,
  },
});
