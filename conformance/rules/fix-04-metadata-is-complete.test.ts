import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./fix-04-metadata-is-complete.ts";

testRule(rule, {
  defects: {
    "fix-04-version-unknown": /names no version of the API/,
    "fix-04-recorded-tomorrow": /lies in the future/,
  },
});
