import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./net-03-redirects-and-rebinding.ts";

testRule(rule, {
  defects: {
    "net-03-redirects-followed": /was followed to https:\/\/127\.0\.0\.1/,
    "net-03-redirects-without-end": /one after the other/,
    "net-03-downgrade-followed": /followed to http:/,
  },
  bases: ["connector", "program", "oauth-connector", "oauth-program"],
});
