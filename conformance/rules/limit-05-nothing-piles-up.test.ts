import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./limit-05-nothing-piles-up.ts";

testRule(rule, {
  defects: {
    "limit-05-listener-per-run":
      /check, 5 times to its end: there are 5 more listeners of the process for exit/,
    "limit-05-heartbeat-outlives-its-consumer":
      /5 times with a consumer that goes away: there are 5 more open resources of the kind Timeout/,
  },
});
