import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./retry-08-declared-pace.ts";

testRule(rule, {
  defects: {
    "retry-08-silent-wait": /says nothing/,
    "retry-08-all-at-once": /under way together/,
  },
});
