import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./det-02-everywhere-the-same.ts";

testRule(rule, {
  defects: {
    "det-02-local-time-in-the-state": /TZ=Asia\/Kathmandu.*05:45:00Z/s,
    "det-02-local-time-in-a-row": /TZ=Asia\/Kathmandu.*message 2 differs/s,
    "state-05-times-compared-as-text": /3 rows too many/,
  },
});
