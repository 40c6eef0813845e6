import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./leak-05-internal-path.ts";

testRule(rule, {
  defects: {
    "leak-05-module-path-logged": /a path of the machine.*LOG INFO of the run "\w+/,
    "leak-05-missing-file-in-message": /permissions\.json/,
  },
});
