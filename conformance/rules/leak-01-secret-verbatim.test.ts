import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./leak-01-secret-verbatim.ts";

testRule(rule, {
  defects: {
    "leak-01-settings-logged": /"config api_token" stands as it is in message \d+, LOG INFO/,
    "leak-01-settings-on-stderr": /standard error of the run "check/,
    "leak-01-settings-in-message": /message of TRACE ERROR/,
  },
});
