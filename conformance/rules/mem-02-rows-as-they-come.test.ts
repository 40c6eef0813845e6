import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./mem-02-rows-as-they-come.ts";

testRule(rule, {
  bases: ["connector", "program", "oauth-connector", "oauth-program"],
  defects: {
    "mem-02-collects-all-pages": /tags, .*: 40 requests had been sent when row 1 was written/,
    "retry-08-all-at-once": /answers were awaited at once/,
  },
  good: ["rows-late-in-the-log"],
});
