import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./spec-02-strict-schema.ts";

testRule(rule, {
  defects: {
    "spec-02-misspelt-keyword": /exclusiveMinimun/,
    "spec-02-default-of-another-type": /default of page_size .* must be integer/,
    "spec-02-example-out-of-range": /example 2 of page_size .* <= 100/,
    "spec-02-remote-reference": /Url refers to "https:\/\/schemas\.example\.com/,
  },
});
