import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./check-01-valid-config-succeeds.ts";

testRule(rule, {
  defects: {
    "check-01-one-result-per-stream": /3 CONNECTION_STATUS messages/,
    "check-01-rows-in-its-output": /also gave a RECORD message/,
  },
});
