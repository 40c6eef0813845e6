import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./net-04-values-stay-values.ts";

testRule(rule, {
  defects: {
    "net-04-id-in-the-path-as-it-is": /GET \/me\/items/,
    "net-04-id-encoded-as-a-whole-url": /GET \/v1\/folders\/x\/y\/items/,
  },
  bases: ["connector", "program", "oauth-connector", "oauth-program"],
});
