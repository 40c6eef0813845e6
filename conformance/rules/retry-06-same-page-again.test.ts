import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./retry-06-same-page-again.ts";

testRule(rule, {
  defects: {
    "retry-06-page-moves-on": /not asked for/,
    "retry-06-signature-of-the-first-try": /x-timestamp/,
    "retry-06-listing-begins-anew": /reset.*page/,
    "retry-06-expired-token-again": /expired token/,
  },
  bases: ["connector", "program", "oauth-connector", "oauth-program"],
});
