import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./disc-01-streams-with-unique-names.ts";

testRule(rule, {
  defects: {
    "disc-01-names-differ-in-case": /"folders" and "Folders" have the same name/,
    "disc-01-names-tidied-up": /lists "line\\nbreak", and the catalog has no such stream, but "/,
    "disc-01-names-as-keys": /lists "__proto__", and the catalog has no such stream/,
  },
});
