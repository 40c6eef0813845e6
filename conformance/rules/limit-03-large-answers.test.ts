import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./limit-03-large-answers.ts";

testRule(rule, {
  defects: {
    "limit-03-body-without-bound": /an answer without end: 128 MB of it were taken/,
    "limit-03-large-page-cut": /10,000 of its rows were written, and the run succeeded/,
  },
});
