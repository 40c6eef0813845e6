import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./state-01-crash-at-any-message.ts";

testRule(rule, { defects: { "state-01-state-before-its-rows": /missing/ } });
