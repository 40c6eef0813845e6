import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./disc-03-keys-and-cursors-exist.ts";

testRule(rule, {
  defects: {
    "disc-03-camel-case-cursor": /cursor "updatedAt" of notes is no property .*updated_at/,
    "disc-03-cursor-of-another-stream": /cursor "updated_at" of folders is no property/,
    "disc-03-key-not-in-schema": /primary key "folder_id" of folders is no property/,
  },
});
