import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./state-02-resume-at-the-end.ts";

testRule(rule, {
  defects: {
    "state-02-first-row-of-each-folder": /rows again that are not the newest/,
    "state-02-cursor-dropped-at-the-end": /final state \{\}/,
  },
});
