import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./read-02-message-grammar.ts";

testRule(rule, {
  defects: {
    "read-02-no-end": /started and has no COMPLETE/,
    "read-02-rows-after-the-end": /a RECORD of folders comes after its COMPLETE/,
    "read-02-rows-before-the-start": /RECORD of folders comes before its STARTED/,
  },
});
