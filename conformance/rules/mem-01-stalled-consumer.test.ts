import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./mem-01-stalled-consumer.ts";

testRule(rule, {
  defects: {
    "mem-01-fetches-on-regardless":
      /tags, 40 pages .*: 39 more requests were sent while it took nothing/,
  },
});
