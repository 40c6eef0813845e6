import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./leak-04-stack-trace.ts";

testRule(rule, {
  defects: {
    "leak-04-stack-logged": /a stack trace, "at .*LOG WARN/,
    "leak-04-place-in-message": /notes\.js:214:9/,
    "leak-04-place-in-the-state": /notes\.js:214:9.*STATE/i,
    "leak-04-stack-in-the-catalog": /a stack trace.*CATALOG/,
    "leak-04-stack-as-analytics": /a stack trace.*TRACE ANALYTICS/,
    "leak-04-thrown-text-as-reason": /the text of an exception, "TypeError: Cannot/,
    "leak-04-thrown-text-of-a-row": /the text of an exception, "Cannot destructure/,
    "leak-04-thrown-text-as-message":
      /the text of an exception, "TypeError: .*in message \d+, message of TRACE ERROR/,
    "leak-04-thrown-text-logged": /the text of an exception, ".*JSON.*LOG WARN/,
    "leak-01-settings-in-message": /a stack trace/,
  },
});
