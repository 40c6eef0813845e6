import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./state-06-states-are-snapshots.ts";

testRule(rule, {
  defects: {
    "state-06-input-state-changed": /changed the state that it was given/,
    "state-06-state-changed-after-it-was-yielded": /already covers the rows between them/,
  },
});
