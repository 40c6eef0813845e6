import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./fix-02-no-secret-recorded.ts";

testRule(rule, {
  defects: {
    "fix-02-token-in-an-answer": /check.yaml holds a JWT, at \/interactions\/0\/response\/body/,
    "fix-02-gzip-hides-a-token": /vendor token, packed in base64 in gzip/,
    "fix-02-key-in-a-query": /secret name .access_token./,
  },
});
