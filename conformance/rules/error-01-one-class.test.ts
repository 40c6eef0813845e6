import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./error-01-one-class.ts";

testRule(rule, {
  defects: {
    "error-01-type-nobody-knows": /NotFound/,
    "error-01-exception-escapes": /crashed/,
  },
});
