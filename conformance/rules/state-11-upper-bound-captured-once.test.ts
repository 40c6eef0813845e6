import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./state-11-upper-bound-captured-once.ts";

testRule(rule, {
  defects: {
    "state-11-newest-of-all-folders": /and one of another parent 30 s after.*1 row changed/,
    "state-11-folder-bound-an-hour-ahead": /and one of a later page 30 s after.*1 row changed/,
    "state-11-bound-an-hour-ahead": /and one of a later page 30 s after.*1 row changed/,
    "state-11-bound-at-the-end": /does not give the change: 1 row changed/,
  },
  good: ["token-beside-a-time", "windows-until-now"],
});
