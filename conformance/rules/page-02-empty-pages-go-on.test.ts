import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./page-02-empty-pages-go-on.ts";

testRule(rule, {
  defects: {
    "page-02-stops-at-an-empty-page": /page 2 without rows, though more follow: .*rows are missing/,
    "page-02-empty-numbered-page": /tags: page 2 without rows/,
  },
});
