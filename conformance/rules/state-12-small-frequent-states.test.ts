import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./state-12-small-frequent-states.ts";

testRule(rule, {
  defects: {
    "state-12-seen-ids-in-the-state": /after 220 rows, has \d+ bytes/,
    "state-12-expired-position-is-nothing-new": /\(410\), and the read succeeds/,
    "state-12-state-only-at-the-end": /writes no state for 11\d pages/,
  },
  good: ["windows-of-a-day", "one-window-until-now"],
});
