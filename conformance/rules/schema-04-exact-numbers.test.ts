import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./schema-04-exact-numbers.ts";

testRule(rule, {
  defects: {
    "schema-04-json-parse": /number is 1152921504606846977 .* and 1152921504606847000 stands/,
    "schema-04-rounded-to-cents":
      /weight is -79228162514264\.337593543950335 .* and -79228162514264\.34 stands/,
    "schema-04-infinite-is-null": /weight is 1e400 .* and null stands/,
    "schema-04-ids-in-lists-rounded":
      /owner_ids\.0 is 9223372036854775807 .* "9223372036854776000" stands/,
    "schema-04-unsafe-ids-skipped": /tags: id is \d{16,} .* its record does not come/,
  },
});
