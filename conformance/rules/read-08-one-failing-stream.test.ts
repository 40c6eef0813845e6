import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./read-08-one-failing-stream.ts";

testRule(rule, {
  defects: {
    "read-08-first-failure-ends-all": /did not finish: .* missing/,
    "read-08-forbidden-streams-are-skipped": /answered 403, and the run says that it succeeded/,
  },
});
