import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./schema-05-times-and-texts.ts";

testRule(rule, {
  defects: {
    "schema-05-times-in-milliseconds": /updated_at is .*\.999999\+01:00" in row 1 .*\.999Z" stands/,
    "schema-05-offset-cut-off": /updated_at is .*[+-]\d\d:\d\d".*Z" stands/,
    "schema-05-empty-is-null": /body is "" .* and null stands/,
    "schema-05-missing-is-null": /body is missing .* and null stands/,
    "schema-05-chunks-read-alone": /notes: answers in pieces of 1 byte: .* changed/,
  },
});
