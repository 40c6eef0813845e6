import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./fix-05-recordings-are-fresh.ts";

testRule(rule, {
  defects: {
    "fix-05-three-years-old": /recorded 1096 days ago/,
    "fix-05-endpoint-has-ended": /GET \/v1\/folders ended on/,
  },
});
