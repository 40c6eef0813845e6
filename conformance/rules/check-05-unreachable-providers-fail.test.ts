import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./check-05-unreachable-providers-fail.ts";

testRule(rule, {
  defects: {
    "check-05-offline-is-fine": /name cannot be resolved, check succeeded/,
    "check-05-waits-for-ever": /requests are never answered, check has not ended/,
  },
});
