import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./net-02-no-inside-hosts.ts";

testRule(rule, {
  defects: {
    "net-02-loopback-by-name-only": /169\.254\.169\.254/,
    "net-02-ipv6-forgotten": /\[::1\]/,
  },
  notApplicable: ["connector"],
});
