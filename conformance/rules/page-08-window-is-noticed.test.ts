import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./page-08-window-is-noticed.ts";

testRule(rule, {
  defects: {
    "page-08-pages-counted-for-rows": /a page of 1 rows that says \/total 5.*1 row missing/,
    "page-08-count-not-looked-at": /a page of 1 rows that says \/count 2.*1 row missing/,
    "page-08-total-not-looked-at": /ends after 2 rows and states a larger total.*3 rows missing/,
    "page-08-total-of-a-window-not-looked-at":
      /notes: a provider that ends after 2 rows and states a larger total.*missing/,
    "page-08-declared-window-full": /declared window of 6.*1 row missing/,
  },
  good: ["count-is-the-limit", "windows-that-state-totals"],
});
