import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./det-03-order-of-answers-and-keys.ts";

testRule(rule, {
  defects: {
    "det-03-first-field-is-the-key": /keys of the provider.s JSON/,
    "det-03-last-answer-ends-the-read":
      /later requests are answered before earlier ones.*(missing|failed).*[^.]\.$/m,
    "det-03-next-token-by-its-place": /rows missing/,
  },
});
