/** The report of the conformance kit on a connector, as the console tells it. */
import type { schemas } from "../api/schema.ts";

export type Report = schemas["ConformanceReport"];
export type TriedRule = schemas["TriedRule"];
export type RuleResult = schemas["RuleResult"];
type KitReport = schemas["KitReport"];

interface ResultWords {
  readonly heading: string;
  readonly color: string;
  /** Whoever reads has to act on it: it is open, with what to do. */
  readonly isUrgent: boolean;
}

/** The kit's results in words; first those to be acted on. */
export const resultWords: Readonly<Record<RuleResult, ResultWords>> = {
  error: { heading: "Went wrong in the kit", color: "red", isUrgent: true },
  fail: { heading: "Failed", color: "red", isUrgent: true },
  vacuous: { heading: "Looked at nothing", color: "red", isUrgent: true },
  warn: { heading: "Warned", color: "orange", isUrgent: true },
  waived: { heading: "Waived", color: "yellow", isUrgent: true },
  "left-out": { heading: "Left out", color: "gray", isUrgent: false },
  "not-applicable": { heading: "Not applicable", color: "gray", isUrgent: false },
  pass: { heading: "Passed", color: "teal", isUrgent: false },
};

export const verdictWords = {
  passed: { text: "Passed", color: "teal" },
  failed: { text: "Failed", color: "red" },
  unusable: { text: "Could not be judged", color: "orange" },
} as const satisfies Record<Report["verdict"], object>;

/** Rules by what came of them; what is to be acted on comes first. */
export const groupsOf = (rules: readonly TriedRule[]) =>
  (Object.keys(resultWords) as RuleResult[])
    .map((result) => ({ result, rules: rules.filter((rule) => rule.result === result) }))
    .filter(({ rules: some }) => some.length > 0);

/** A report's file, without evidence: it may be long, and stays with who ran the kit. */
export async function readReport(file: Blob): Promise<KitReport | undefined> {
  try {
    const { rules, ...report } = JSON.parse(await file.text()) as KitReport;
    return {
      ...report,
      rules: rules.map(({ problems, ...rule }) => ({
        ...rule,
        problems: problems.map(({ sentence }) => ({ sentence })),
      })),
    };
  } catch {
    return undefined;
  }
}
