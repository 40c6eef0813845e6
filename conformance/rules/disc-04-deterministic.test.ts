import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./disc-04-deterministic.ts";

testRule(rule, {
  defects: {
    "disc-04-order-flaps": /call of discover gives another catalog: first at/,
    "disc-04-order-of-the-provider": /depends on the order in which the provider lists/,
  },
});
