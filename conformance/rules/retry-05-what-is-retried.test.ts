import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./retry-05-what-is-retried.ts";

testRule(rule, {
  defects: {
    "retry-05-bad-gateway-is-final": /answered 502: it was not tried again/,
    "retry-05-not-found-again": /answered 404: it was tried again/,
    "retry-05-reset-is-final": /reset.*not tried again/,
    "retry-06-page-moves-on": /not tried again/,
  },
});
