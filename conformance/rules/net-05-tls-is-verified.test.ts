import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./net-05-tls-is-verified.ts";

testRule(rule, {
  defects: {
    "net-05-verification-off": /rejectUnauthorized: false/,
    "net-05-any-name-will-do": /checkServerIdentity/,
  },
});
