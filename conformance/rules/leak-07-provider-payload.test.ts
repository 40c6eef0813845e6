import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./leak-07-provider-payload.ts";

testRule(rule, {
  defects: {
    "leak-07-message-of-the-provider": /CONNECTION_STATUS of the run .* holds text of the provider/,
    "leak-07-body-as-message": /answered \d+" holds text/,
    "leak-07-reason-of-the-provider":
      /"folders, request 1 and all after it answered 4\d\d" holds text/,
    "leak-07-error-inside-of-check":
      /"check, an error of an unknown code in \/login\/error of .*" holds text/,
  },
});
