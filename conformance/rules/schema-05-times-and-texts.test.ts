import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./schema-05-times-and-texts.ts";

testRule(rule, {
  defects: {
    "schema-05-normal-form": /title is "Zero.*stands in the record/,
    "schema-05-numbers-out-of-text": /name is "0012\.50" .* "12\.5" stands/,
    "schema-05-spaces-trimmed": /name is " .* two {2}spaces/,
    "schema-05-keys-without-case": /id is "twin0" .* its record does not come/,
    "schema-05-keys-without-case-among-many":
      /^(?![\s\S]*stands in the record)[\s\S]*id is "twin0" in row 2 .* its record does not come/,
    "schema-05-long-text-cut": /body is "Long text/,
    "schema-05-text-cut-as-a-cell": /body is "Long text.*\(32769 characters\) stands/,
    "schema-05-times-in-milliseconds": /updated_at is .*\.999999\+01:00" in row 1 .*\.999Z" stands/,
    "schema-05-offset-cut-off": /updated_at is .*[+-]\d\d:\d\d".*Z" stands/,
    "schema-05-empty-is-null": /body is "" .* and null stands/,
    "schema-05-empty-items-left-out": /answers is \[(?:null|"").*in row \d .* stands/,
    "schema-05-missing-is-null": /body is missing .* and null stands/,
    "schema-05-chunks-read-alone": /notes: answers in pieces of 1 byte: .* changed/,
    "schema-05-post-codes-through-a-number": /name is "(?:12\.50|00).*" .* stands/,
    "schema-05-keys-of-digits-as-numbers": /id is "007" /,
    "schema-05-order-numbers-as-times": /name is "1780270800000" .* "2026-05-31T.*Z" stands/,
    "schema-05-links-in-lower-case": /name is "https:.*Ab1.* in row 1 .*ab1.*" stands/,
    "schema-05-account-numbers-as-integers": /name is "0.*" .* stands/,
  },
});
