import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./cancel-02-settles-at-once.ts";

testRule(rule, {
  bases: ["connector", "program", "oauth-connector", "oauth-program"],
  defects: {
    "cancel-02-sleeps-on": /while it waits to try again, request \d, settled after 30\d{4} ms/,
    "cancel-02-fetch-without-signal":
      /while the head of the answer is awaited, request \d, had not ended/,
    "cancel-02-request-left-behind": /left its request open/,
  },
});
