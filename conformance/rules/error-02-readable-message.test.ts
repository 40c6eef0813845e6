import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./error-02-readable-message.ts";

testRule(rule, {
  defects: {
    "error-02-empty-message": /is empty/,
    "error-02-many-lines": /more than one line/,
    "error-02-says-nothing": /says no more/,
    "error-02-code-of-the-moment": /the next time/,
  },
});
