import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./read-03-records-of-every-stream.ts";

testRule(rule, {
  defects: {
    "read-03-renamed-endpoint": /folders gives no record/,
  },
});
