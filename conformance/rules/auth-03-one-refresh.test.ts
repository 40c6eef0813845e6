import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./auth-03-one-refresh.ts";

testRule(rule, {
  defects: {
    "auth-03-token-per-stream": /sent 4 requests to the token endpoint instead of 1/,
    "auth-03-parallel-refreshes": /3 requests to the token endpoint instead of 2/,
    "auth-03-late-refusal-renews-again":
      /slower requests are refused after it was renewed.*token endpoint instead of/,
    "auth-03-late-refusal-logs-out":
      /slower requests are refused after it was renewed: the run does not go on/,
    "auth-03-late-refused-page-left-out":
      /slower requests are refused after it was renewed: .*tags: 1 row missing/,
  },
  bases: ["connector", "program", "oauth-connector", "oauth-program"],
  notApplicable: ["connector", "program"],
});
