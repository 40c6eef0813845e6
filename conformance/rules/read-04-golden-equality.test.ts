import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./read-04-golden-equality.ts";

testRule(rule, {
  defects: {
    "read-04-stream-renamed":
      /^lists\.yaml is a recording of lists, a stream that the connector does not have: remove/,
    "read-04-value-becomes-null": /records of tags are as many as recorded, but their content/,
    "read-04-value-changed": /records of tags are as many as recorded, but their content/,
  },
});
