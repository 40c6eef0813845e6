import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./page-07-tokens-are-opaque.ts";

testRule(rule, {
  defects: {
    "page-07-token-escaped-twice": /tokens with \+, \/ and =/,
    "page-07-token-not-escaped": /tokens with \+, \/ and =/,
    "page-07-empty-token-is-none": /the empty text as its first token.*missing/,
  },
});
