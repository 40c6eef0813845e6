import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./read-06-only-what-was-selected.ts";

testRule(rule, {
  defects: {
    "read-06-fetches-what-nobody-selected": /Only folders was selected, and GET \/v1\/tags/,
  },
});
