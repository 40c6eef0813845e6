import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./auth-06-credentials-stay-home.ts";

testRule(rule, {
  defects: {
    "auth-06-key-follows-the-redirect": /api_token in header authorization/,
    "auth-06-private-token-kept": /header private-token/,
    "auth-06-token-request-redirected": /client_secret in the body/,
    "auth-06-next-link-to-anywhere": /every link in its answers/,
  },
  bases: ["connector", "program", "oauth-connector", "oauth-program"],
});
