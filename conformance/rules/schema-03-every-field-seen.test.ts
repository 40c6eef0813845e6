import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./schema-03-every-field-seen.ts";

testRule(rule, {
  defects: {
    "schema-03-never-seen": /never seen: descripton/,
  },
});
