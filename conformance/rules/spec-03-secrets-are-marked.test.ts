import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./spec-03-secrets-are-marked.ts";

testRule(rule, {
  defects: {
    "spec-03-token-not-marked": /api_token holds a secret/,
    "spec-03-key-by-another-name":
      /workspace_handle authenticates requests .* Authorization header/,
    "spec-03-secret-with-an-example": /api_token comes with "examples"/,
  },
});
