import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./check-07-success-means-discover-works.ts";

testRule(rule, {
  defects: {
    "check-07-large-pages-break-discover": /page_size: 100, check succeeds, but discover failed/,
    "check-07-failure-of-no-stream": /403 to the requests of tags only/,
  },
});
