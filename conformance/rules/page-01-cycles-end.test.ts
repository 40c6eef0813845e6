import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./page-01-cycles-end.ts";

testRule(rule, {
  defects: {
    "page-01-follows-any-token": /without end: it was stopped/,
    "page-01-only-the-last-token": /second and the third page.*without end/,
  },
});
