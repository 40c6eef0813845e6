import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./error-04-body-of-another-shape.ts";

testRule(rule, {
  defects: {
    "error-04-login-page-is-empty": /web page/,
    "error-04-null-rows": /null for its rows/,
    "error-04-cut-off-json": /cut in half/,
    "error-05-caught-and-empty": /folders: 2 rows missing/,
    "error-04-list-of-another-shape":
      /shared .*an object with an error in its place.*1 row missing/,
    "error-04-empty-list-of-another-shape":
      /shared .*an object with an error in its place.*this list had left out/,
  },
});
