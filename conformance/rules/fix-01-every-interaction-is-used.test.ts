import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./fix-01-every-interaction-is-used.ts";

testRule(rule, {
  defects: {
    "fix-01-interaction-nobody-asks-for":
      /1 of 2 recorded interactions were not asked for: check#2/,
    "fix-01-unrecorded-request-swallowed":
      /check: request 2 was not recorded: .*no parameter fields|check: request 2 was not recorded: .*fields=plan/,
  },
});
