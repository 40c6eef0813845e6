import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./read-07-empty-source.ts";

testRule(rule, {
  defects: {
    "read-07-looks-into-the-first-row": /empty provider, folders failed/,
  },
});
