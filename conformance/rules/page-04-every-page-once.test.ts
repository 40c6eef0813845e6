import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./page-04-every-page-once.ts";

testRule(rule, {
  defects: {
    "page-04-first-page-again":
      /asks for a page that it should not: .*page=1 was recorded, but fewer times/,
    "page-04-always-the-first-page": /page=1 was recorded, but fewer times/,
  },
});
