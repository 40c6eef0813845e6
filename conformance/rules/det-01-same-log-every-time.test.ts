import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./det-01-same-log-every-time.ts";

testRule(rule, {
  defects: {
    "det-01-random-run-id": /runs 1 and 2 differ in message/,
    "det-01-runs-counted-in-the-module": /folders: runs 1 and 2 differ/,
  },
});
