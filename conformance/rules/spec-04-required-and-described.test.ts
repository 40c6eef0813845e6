import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./spec-04-required-and-described.ts";

testRule(rule, { defects: { "spec-04-misspelt-required": /api_tokn/ } });
