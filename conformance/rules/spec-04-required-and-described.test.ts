import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./spec-04-required-and-described.ts";

testRule(rule, {
  defects: {
    "spec-04-misspelt-required": /api_tokn/,
    "spec-04-setting-without-description": /base_url has no description/,
  },
});
