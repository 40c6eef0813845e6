import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./auth-08-no-credential-in-urls.ts";

testRule(rule, {
  defects: {
    "auth-08-token-in-the-query": /api_token\) in its URL/,
    "auth-08-consent-without-state": /no state/,
  },
});
