import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./page-05-any-number-of-rows.ts";

testRule(rule, {
  defects: {
    "page-05-hundred-pages-at-most": /a read of 330 pages .* 460 rows are missing/,
    "page-05-full-last-batch": /tags: exactly two pages .*4 rows are missing/,
  },
});
