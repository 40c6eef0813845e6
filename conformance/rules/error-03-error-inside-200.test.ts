import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./error-03-error-inside-200.ts";

testRule(rule, {
  defects: {
    "error-03-rows-beside-errors": /1 of 2 rows beside .*A shard.*1 row missing/,
    "error-03-partial-content-is-whole": /206 with 1 of 2 rows.*1 row missing/,
    "error-03-null-rows-left-out": /null in place of its last row.*1 row missing/,
    "error-03-failed-parts-left-out": /"error".* in place of its last row.*1 row missing/,
    "error-03-own-errors-left-out": /ACCESS_059.* in place of its last row.*1 row missing/,
    "error-03-failed-entries-left-out": /"error".* in place of its entry f2.*1 row missing/,
    "error-03-unknown-error-is-none": /unknown code in \/login\/error of .*: check succeeded/,
    "error-03-not-enabled-is-empty": /rows missing/,
    "error-03-ok-false": /folders: 2 rows missing/,
    "error-05-caught-and-empty": /folders: 2 rows missing/,
  },
});
