import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./spec-01-one-document-from-nothing.ts";

testRule(rule, {
  defects: {
    "spec-01-regions-from-the-provider": /sent a request/,
    "spec-01-default-from-the-environment":
      /process\.env\.NOTES_PAGE_SIZE .* at spec-01-default-from-the-environment\.ts:\d+/,
    "spec-01-description-from-a-file": /fs\.readFileSync/,
    "spec-01-two-documents": /2 SPEC messages/,
    "spec-06-generated-at": /new Date\(\)/,
  },
});
