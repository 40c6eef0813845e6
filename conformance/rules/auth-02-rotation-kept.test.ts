import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./auth-02-rotation-kept.ts";

testRule(rule, {
  defects: {
    "auth-02-rotated-token-forgotten": /never kept/,
    "auth-02-kept-after-the-next-request": /kept only after 2 requests/,
    "auth-02-overwritten-with-undefined": /"undefined"/,
    "auth-02-half-a-configuration": /client_id is missing/,
    "auth-02-first-token-for-ever": /from before the rotation/,
  },
  bases: ["connector", "program", "oauth-connector", "oauth-program"],
  notApplicable: ["connector", "program"],
});
