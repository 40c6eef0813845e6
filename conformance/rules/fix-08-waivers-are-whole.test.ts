import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./fix-08-waivers-are-whole.ts";

testRule(rule, {
  defects: {
    "fix-08-nobody-owns-it": /has no reason[\s\S]*no day/,
    "fix-08-expired-and-misspelt": /expired on 2026-05-31[\s\S]*no rule PAGE-88/,
  },
  notApplicable: ["connector", "program"],
});
