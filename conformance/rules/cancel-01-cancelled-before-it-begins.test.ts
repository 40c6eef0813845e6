import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./cancel-01-cancelled-before-it-begins.ts";

testRule(rule, {
  bases: ["connector", "program", "oauth-connector"],
  defects: {
    "cancel-01-listens-too-late":
      /check, cancelled before it began, sent a request all the same, the first GET/,
  },
});
