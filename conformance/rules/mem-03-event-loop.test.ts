import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./mem-03-event-loop.ts";

testRule(rule, {
  defects: {
    "mem-03-sorts-by-text": /one turn of the event loop took \d{3,} ms/,
  },
});
