import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./disc-02-valid-schemas.ts";

testRule(rule, {
  defects: {
    "disc-02-required-is-text": /schema of tags is not valid: .*required/,
    "disc-02-type-datetime": /schema of folders is not valid: .*type/,
  },
});
