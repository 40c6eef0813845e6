import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./error-07-same-fault-same-class.ts";

testRule(rule, {
  defects: {
    "error-07-check-blames-the-settings": /check fails as config/,
    "error-07-text-thrown": /as internal/,
  },
});
