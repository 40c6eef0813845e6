import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./check-03-wrong-values-are-refused.ts";

testRule(rule, {
  defects: {
    "check-03-page-size-not-a-number": /page_size is text, and check succeeded/,
    "check-03-long-token-breaks-the-code": /api_token is 1 MB of text/,
    "check-03-line-break-gets-through": /line break/,
    "check-03-unknown-settings-ignored": /no_such_setting/,
  },
});
