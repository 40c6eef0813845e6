import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./state-15-changes-before-the-resume.ts";

testRule(rule, {
  defects: {
    "state-15-folders-behind-the-last": /the parents come in reverse order.*missing/,
    "state-15-snapshot-of-folders":
      /a read is cut off, a row of .*folders comes.*gives them: .*rows? missing/,
    "state-15-place-by-count": /the first row is deleted in GET .*notes.*1 row is missing/,
    "state-15-rare-place-by-count":
      /notes, 110 pages, cut off .* the first row is deleted in GET .*notes.*1 row is missing/,
    "state-15-bound-of-the-resumed-run":
      /a row that was read changes, and one of a later parent changes later still/,
    "state-15-time-of-the-resumed-run": /a row that was read changes, .*1 row missing/,
    "state-15-last-folder-for-a-gone-one":
      /at its place is deleted, and another one comes last.*missing/,
    "state-15-folders-by-index": /the parent at its place is deleted in GET .*folders.*missing/,
  },
});
