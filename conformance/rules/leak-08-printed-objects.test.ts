import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./leak-08-printed-objects.ts";

testRule(rule, {
  defects: {
    "leak-08-error-carries-answer": /"issued session_token" when it is printed by JSON\.stringify/,
    "leak-08-error-carries-request": /"config api_token" when it is printed by util\.inspect/,
  },
});
