import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./read-04-golden-equality.ts";

testRule(rule, {
  defects: {
    "read-04-value-changed": /records of tags are as many as recorded, but their content/,
  },
});
