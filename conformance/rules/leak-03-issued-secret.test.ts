import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./leak-03-issued-secret.ts";

testRule(rule, {
  defects: {
    "leak-03-cookie-logged": /"issued set-cookie" stands as it is in message \d+, LOG INFO/,
    "leak-03-envelope-logged": /issued session_token/,
    "leak-07-body-as-message": /issued session_token/,
  },
});
