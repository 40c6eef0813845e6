import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./page-03-short-pages-go-on.ts";

testRule(rule, {
  defects: {
    "page-03-stops-at-a-short-page": /one row on the first page.*more follow.*missing/,
  },
});
