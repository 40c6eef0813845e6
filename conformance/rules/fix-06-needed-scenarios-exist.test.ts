import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./fix-06-needed-scenarios-exist.ts";

testRule(rule, {
  defects: {
    "fix-06-no-rate-limit-answer": /how the provider answers 429/,
    "fix-06-two-pages-only": /v1\/tags \(number, page\): 2 of its pages are recorded/,
  },
});
