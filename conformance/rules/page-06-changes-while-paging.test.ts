import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./page-06-changes-while-paging.ts";

testRule(rule, {
  defects: {
    "page-06-known-row-ends-it": /a row is added in front, and the read succeeds, but .*missing/,
    "page-06-changed-total-ends-it": /missing/,
  },
});
