import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./retry-03-retry-after-unreadable.ts";

testRule(rule, {
  defects: {
    "retry-03-timer-overflow": /9999999999: \d tries within/,
    "retry-03-negative-at-once": /-30: \d tries within/,
    "retry-03-waits-a-century": /days/,
  },
});
