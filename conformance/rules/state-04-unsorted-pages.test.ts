import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./state-04-unsorted-pages.ts";

testRule(rule, {
  defects: {
    "state-04-cursor-moves-with-each-page": /the newest row comes first.*missing/,
  },
});
