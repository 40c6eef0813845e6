import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./read-06-only-what-was-selected.ts";

testRule(rule, {
  defects: {
    "read-06-fetches-what-nobody-selected": /Only folders was selected, and GET \/v1\/tags/,
    "read-06-all-fields-all-the-same":
      /notes was selected without the field \w+, and record 1 has it/,
    "read-06-text-is-always-given": /notes was selected without the field body, and record 1/,
    "read-06-left-out-is-null": /tags was selected without the field color, and record 1 has it/,
    "read-06-needs-what-is-left-out": /notes without .*: the read failed with 0 records/,
  },
});
