import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./retry-01-retry-after-seconds.ts";

testRule(rule, {
  defects: {
    "retry-01-retry-after-unused": /after \d/,
    "retry-01-only-with-429": /answered 503/,
  },
});
