import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./schema-01-records-fit-their-schema.ts";

testRule(rule, {
  defects: {
    "schema-01-declared-integer": /folders: \/name must be integer/,
    "schema-01-list-of-yesterday": /folders: \/name must be equal to one of the allowed values/,
  },
});
