import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./retry-04-bounded-and-jittered.ts";

testRule(rule, {
  defects: {
    "retry-04-for-ever": /for ever/,
    "retry-04-no-jitter": /are the same in each/,
    "retry-04-no-growth": /do not grow/,
    "retry-04-own-timer": /past the injected clock/,
    "retry-04-gives-up-as-internal": /fails as internal/,
  },
});
