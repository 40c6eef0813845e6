import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./error-03-error-inside-200.ts";

testRule(rule, {
  defects: {
    "error-03-not-enabled-is-empty": /rows missing/,
    "error-03-ok-false": /folders: 2 rows missing/,
    "error-05-caught-and-empty": /folders: 2 rows missing/,
  },
});
