import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./leak-02-secret-encoded.ts";

testRule(rule, {
  defects: {
    "leak-02-token-base64-in-log":
      /"config api_token" stands as base64 in message 1, LOG INFO of the run "check/,
    "leak-02-first-characters-of-token": /its first 8 characters/,
    "leak-02-command-in-hex-in-message": /as hex in message 1, CONNECTION_STATUS/,
  },
});
