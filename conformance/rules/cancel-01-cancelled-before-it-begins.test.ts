import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./cancel-01-cancelled-before-it-begins.ts";

testRule(rule, { defects: {} });
