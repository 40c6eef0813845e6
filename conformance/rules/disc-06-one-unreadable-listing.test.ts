import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./disc-06-one-unreadable-listing.ts";

testRule(rule, {
  defects: {
    "disc-06-group-left-out": /groups\/shared answered 403: tags disappeared/,
    "disc-06-one-forbidden-ends-all": /fields answered 403: discover lists nothing any more/,
    "disc-06-left-out-in-silence":
      /notes\/fields answered 403: notes disappeared .* without a warning/,
  },
  notApplicable: ["connector", "program"],
});
