import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./fix-07-answers-matter.ts";

testRule(rule, {
  defects: {
    "fix-07-value-becomes-null":
      /tags\.color: the answers say grey in the row \[5\], and the record has null/,
    "fix-07-colors-from-a-table": /tags.color: the answers say/,
  },
});
