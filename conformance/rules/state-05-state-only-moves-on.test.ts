import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./state-05-state-only-moves-on.ts";

testRule(rule, {
  defects: {
    "state-05-bookmark-of-the-last-row":
      /an older row comes last.*the state moves back: since went from/s,
    "state-05-times-compared-as-text": /written with other offsets.*falls short/,
  },
});
