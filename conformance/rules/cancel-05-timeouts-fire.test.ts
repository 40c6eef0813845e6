import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./cancel-05-timeouts-fire.ts";

testRule(rule, {
  bases: ["connector", "program", "oauth-connector"],
  defects: {
    "cancel-05-body-without-timeout":
      /the body stops in its middle, at request \d: it had not ended/,
    "cancel-05-drip-is-waited-for": /waited \d{3} minutes for the last byte/,
    "check-05-waits-for-ever": /connections are never made: it had not ended/,
  },
});
