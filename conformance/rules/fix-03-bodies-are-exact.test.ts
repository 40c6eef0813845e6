import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./fix-03-bodies-are-exact.ts";

testRule(rule, {
  defects: {
    "fix-03-length-and-date-kept": /keeps the header content-length/,
    "fix-03-parsed-and-written-again": /1152921504606847000.*parsed and written again/,
  },
});
