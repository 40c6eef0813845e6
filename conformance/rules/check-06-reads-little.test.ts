import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./check-06-reads-little.ts";

testRule(rule, {
  defects: {
    "check-06-writes-a-note": /POST \/v1\/notes/,
    "check-06-reads-all-tags": /25 pages of GET \/v1\/tags/,
  },
});
