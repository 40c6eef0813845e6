import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./spec-06-always-the-same.ts";

testRule(rule, {
  defects: {
    "spec-06-shared-list-grows": /asked for again/,
    "spec-06-time-in-local-words": /TZ=Asia\/Kathmandu/,
    "spec-06-time-of-loading": /process of its own/,
    "spec-06-generated-at": /connectionSpecification\.\$comment: "generated at/,
  },
});
