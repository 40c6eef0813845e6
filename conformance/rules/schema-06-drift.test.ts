import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./schema-06-drift.ts";

testRule(rule, {
  defects: {
    "schema-06-object-assign": /rows without .*body.* __proto__/,
    "schema-06-deep-merge": /every object of the process has conformance_new_field/,
    "schema-06-object-as-text": /title is \{"nested".* "\[object Object\]" stands/,
    "schema-06-nulled-in-silence": /number is .* and null stands.*meta\.changes/,
    "schema-06-missing-field-breaks": /title is missing .* in no orderly way/,
    "schema-06-strict-about-new-fields": /the provider adds a field, and the run failed/,
    "schema-06-unknown-folder-left-out": /folder_id is "conformance_new".*its record does not come/,
    "schema-06-word-looked-up": /folder_id is "conformance_new".*in no orderly way/,
    "schema-06-new-kind-ends-the-page": /rows of a new kind come first and last.* missing/,
    "schema-06-folder-of-a-new-status":
      /notes: status of GET \/v1\/folders is conformance_new.*rows are missing/,
    "schema-06-state-for-one-word":
      /sync_status of GET \/v1\/notes is CONFORMANCE_NEW beside the rows.*its last state is no state/,
  },
  good: ["folders-of-one-kind-have-notes", "asked-until-it-is-ready"],
});
