import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./auth-07-secrets-arrive-as-given.ts";

testRule(rule, {
  defects: {
    "auth-07-form-by-hand": /in body client_secret/,
    "auth-07-secret-in-two-places": /in the header and in the body/,
    "auth-07-secret-decoded": /in header authorization/,
  },
  bases: ["connector", "program", "oauth-connector", "oauth-program"],
});
