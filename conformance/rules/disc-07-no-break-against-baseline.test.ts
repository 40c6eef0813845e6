import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./disc-07-no-break-against-baseline.ts";

testRule(rule, {
  defects: {
    "disc-07-field-removed": /folders: the field color is gone/,
    "disc-07-key-changed": /tags: the primary key was \[label\] and is \[id\]/,
    "disc-07-stream-removed": /reminders: the stream is gone/,
  },
});
