import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./net-03-redirects-and-rebinding.ts";

testRule(rule, {
  defects: {
    "net-03-looked-up-before":
      /public first, and 127\.0\.0\.1 when looked up again: a connection to 127\.0\.0\.1 was opened/,
    "net-03-names-are-trusted": /redirected to .*, which is 127\.0\.0\.1: a connection to/,
    "net-03-links-by-name": /links to its next pages lead to .*: a connection to 127\.0\.0\.1/,
    "net-03-downloads-by-name": /says to fetch, .* lies at .*: a connection to 127\.0\.0\.1/,
    "net-03-redirects-followed": /was followed to https:\/\/127\.0\.0\.1/,
    "net-03-redirects-without-end": /one after the other/,
    "net-03-downgrade-followed": /followed to http:/,
  },
  bases: ["connector", "program", "oauth-connector", "oauth-program"],
});
