import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./det-04-clock-and-chance.ts";

testRule(rule, {
  defects: {
    "det-04-machine-clock": /uses Date\.now/,
    "det-04-random-pause": /used Math\.random during a run/,
    "det-01-random-run-id": /randomUUID/,
  },
});
