import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./net-06-only-the-clients-network.ts";

testRule(rule, {
  defects: {
    "net-06-https-agent-of-its-own": /imports https/,
    "net-06-setting-from-the-environment": /process\.env\.NOTES_PAGE_SIZE/,
    "net-06-cache-in-a-file": /fs\.existsSync/,
  },
  bases: ["connector", "program", "oauth-connector", "oauth-program"],
});
