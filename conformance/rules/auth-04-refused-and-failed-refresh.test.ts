import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./auth-04-refused-and-failed-refresh.ts";

testRule(rule, {
  defects: {
    "auth-04-refused-refresh-tried-on": /sent 6 times/,
    "auth-04-refresh-tried-once": /should be tried again/,
    "auth-04-outage-asks-for-a-login": /is transient/,
    "auth-04-refused-as-provider-failure": /of the class provider/,
  },
  bases: ["connector", "program", "oauth-connector", "oauth-program"],
  notApplicable: ["connector", "program"],
});
