import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./cancel-04-again-and-consumer-gone.ts";

testRule(rule, {
  defects: {
    "cancel-04-second-cancel-throws":
      /cancelled 3 times .*uncaughtException: Error: it is ending already/,
    "cancel-04-page-ahead-left-running":
      /consumer is gone after message \d, left a request running/,
  },
});
