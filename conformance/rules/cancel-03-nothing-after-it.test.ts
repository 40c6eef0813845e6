import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./cancel-03-nothing-after-it.ts";

testRule(rule, {
  defects: {
    "cancel-03-finishes-the-page": /7999 more rows were written after the cancel/,
    "cancel-03-pages-on-in-silence":
      /more requests were sent after the cancel[\s\S]*says that the stream is COMPLETE although/,
    "cancel-03-end-state-on-cancel": /resumed from its last state, \{"since":.*rows missing/,
  },
});
