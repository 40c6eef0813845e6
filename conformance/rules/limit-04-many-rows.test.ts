import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./limit-04-many-rows.ts";

testRule(rule, {
  defects: {
    "limit-04-remembers-all-ids": /grew by \d+ bytes for each row/,
    "limit-04-line-per-row": /30,000 log lines were written/,
  },
});
