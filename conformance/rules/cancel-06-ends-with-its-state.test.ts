import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./cancel-06-ends-with-its-state.ts";

testRule(rule, {
  defects: { "cancel-06-state-thrown-away": /ended with the state \{\}, which forgets what/ },
});
