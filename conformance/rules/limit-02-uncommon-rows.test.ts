import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./limit-02-uncommon-rows.ts";

testRule(rule, {
  defects: {
    "limit-02-text-cut": /of its 10,485,760 characters 1,048,576 were written/,
    "limit-02-wide-rows-dropped": /a row of 1,000 columns: 1 rows are missing/,
    "limit-02-search-without-depth": /a row of 200 levels: it failed with/,
  },
});
