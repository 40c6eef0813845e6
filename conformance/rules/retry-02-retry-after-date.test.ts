import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./retry-02-retry-after-date.ts";

testRule(rule, {
  defects: {
    "retry-02-date-as-number": /before that/,
    "retry-02-date-in-local-time": /before that/,
  },
});
