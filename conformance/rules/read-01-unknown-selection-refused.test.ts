import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./read-01-unknown-selection-refused.ts";

testRule(rule, {
  defects: {
    "read-01-unknown-stream-is-internal": /without a configuration error/,
    "read-01-unknown-streams-skipped": /does not exist, the run says that it succeeded/,
  },
});
