import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./spec-07-no-breaking-change.ts";

testRule(rule, {
  defects: {
    "spec-07-new-required-setting": /region is required now/,
    "spec-07-smaller-maximum": /page_size has a maximum of 50 now; it was 100/,
    "spec-07-baseline-lost": /no baseline\.yaml/,
    "spec-07-setting-renamed": /page_size is gone/,
  },
});
