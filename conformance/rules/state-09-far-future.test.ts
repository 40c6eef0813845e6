import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./state-09-far-future.ts";

testRule(rule, {
  defects: {
    "state-09-future-cursor-ignored": /gives 7 rows/,
    "state-09-future-cursor-pulled-back": /moves the state back: since went from "2126/,
    "state-09-future-row-moves-the-cursor": /one row is of 2091.* 1 row is missing/,
    "state-09-time-of-a-folder": /its parents are of 2091.* 1 row is missing/,
    "state-09-future-row-of-a-folder": /one row is of 2091.* 1 row is missing/,
  },
  good: ["token-beside-a-time"],
});
