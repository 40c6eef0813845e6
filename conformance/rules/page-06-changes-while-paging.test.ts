import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./page-06-changes-while-paging.ts";

testRule(rule, {
  defects: {
    "page-06-known-row-ends-it": /a row is added in front, and the read succeeds, but .*missing/,
    "page-06-changed-total-ends-it": /missing/,
    "page-06-deleted-rows-unseen":
      /after page 2 of GET .*tags a row of the first page is deleted, and the read succeeds.*missing/,
    "page-06-page-with-a-known-row-left-out":
      /a row of the first page changes and goes to the end, and the read succeeds.*missing/,
    "page-06-pages-of-the-first-answer": /as many rows as a page holds are added in front.*missing/,
    "page-06-steps-back-one-page":
      /more rows than a page holds are deleted from the front.*1 row is missing/,
    "page-06-total-of-the-first-page":
      /a row is added in front, and after the next page another one is deleted.*1 row is missing/,
    "page-06-total-of-the-last-page":
      /is deleted, and after the next page another one is added.*1 row is missing/,
    "page-06-total-of-a-window-not-compared":
      /GET .*notes a row of the first page is deleted, and the read succeeds.*missing/,
  },
  good: ["windows-that-state-totals"],
});
