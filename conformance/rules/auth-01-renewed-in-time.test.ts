import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./auth-01-renewed-in-time.ts";

testRule(rule, {
  defects: {
    "auth-01-token-once-per-run": /after its token had ended/,
    "auth-01-no-margin": /1 s before its token ends/,
    "auth-01-no-renewal-on-401": /does not go on with a new one/,
    "auth-01-token-outside-the-retries": /while a request waits to be tried again/,
    "auth-01-renewed-for-ever": /was sent 21 times/,
  },
  bases: ["connector", "program", "oauth-connector", "oauth-program"],
  notApplicable: ["connector", "program"],
});
