import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./schema-02-no-undeclared-fields.ts";

testRule(rule, {
  defects: {
    "schema-02-raw-row-beside": /have _source, which the schema does not declare/,
  },
});
