import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./read-05-keys-present-and-unique.ts";

testRule(rule, {
  defects: {
    "read-05-key-across-parents": /records 1 and 2 of folders are different rows with the same key/,
    "read-05-null-key": /of folders has no id/,
  },
});
