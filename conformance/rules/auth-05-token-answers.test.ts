import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./auth-05-token-answers.ts";

testRule(rule, {
  defects: {
    "auth-05-missing-expiry-is-nan": /no expires_in: the run got \d+ access tokens/,
    "auth-05-expiry-as-text": /as text it is not/,
    "auth-05-refreshed-until-fresh": /expires_in 0: the run does not get through/,
  },
  bases: ["connector", "program", "oauth-connector", "oauth-program"],
  notApplicable: ["connector", "program"],
});
