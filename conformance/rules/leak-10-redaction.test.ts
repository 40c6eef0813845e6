import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./leak-10-redaction.ts";

testRule(rule, {
  defects: {
    "leak-10-short-secret-masked-everywhere": /api_token is "a"/,
    "leak-10-secret-as-pattern": /a\(b\[c.*the run failed/,
  },
});
