import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./leak-09-hidden-paths.ts";

testRule(rule, {
  defects: {
    "leak-09-header-in-debug-line": /LOG DEBUG/,
    "leak-09-settings-when-cancelled": /standard error of the run "\w+, cancelled/,
    "leak-09-cursor-in-the-error":
      /A value of a row stands in .*notes, with a text as the cursor of a row/,
    "leak-09-row-in-log": /A value of a row stands in .*LOG INFO/,
  },
});
