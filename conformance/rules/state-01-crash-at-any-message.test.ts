import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./state-01-crash-at-any-message.ts";

testRule(rule, {
  defects: {
    "state-01-resumed-pass-runs-ahead": /crash after each .*missing/,
    "state-01-state-before-its-rows": /missing/,
    "state-01-resume-ends-early": /3 rows missing/,
    "state-01-page-of-another-listing": /1 row missing/,
    "state-03-strictly-newer": /resumed from .*missing/,
  },
});
