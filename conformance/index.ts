/**
 * "svc-connectors/conformance": the kit as a library. Start at openKit;
 * "svc-connectors/conformance/vitest" makes tests of it.
 */

export { loadRules } from "./certify/load-rules.ts";
export { buildConformance } from "./command.ts";
export type { KitOptions } from "./contract/kit.ts";
export type { Lab, StreamFacts } from "./contract/lab.ts";
export type { Command, Observation } from "./contract/observation.ts";
export type { ConformanceReport, RuleReport } from "./contract/report.ts";
export {
  defineRule,
  type Evidence,
  type Profile,
  type Reporter,
  type Rule,
} from "./contract/rule.ts";
export { loadDestinationRules } from "./destination/load-rules.ts";
export { openKit } from "./kit.ts";
export { buildNew } from "./new/command.ts";
export { buildRecord } from "./recorder/command.ts";
export { type Form, forms } from "./report/forms.ts";
export { defineProgram, type Program, type ProgramWorld } from "./target/program.ts";
