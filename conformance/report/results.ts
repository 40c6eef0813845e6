/** Words, signs and orders that all forms of a report share. */
import type { ConformanceReport, Result, RuleReport } from "../contract/report.ts";

/**
 * How a result is shown: a sign that does not need colour, a word for a count ("3 failed"), a
 * heading of its list.
 */
interface ResultWords {
  readonly sign: string;
  readonly count: string;
  readonly heading: string;
  readonly colour: "red" | "yellow" | "green" | "gray";
}

export const resultWords: Readonly<Record<Result, ResultWords>> = {
  error: { sign: "!", count: "went wrong", heading: "Went wrong in the kit", colour: "red" },
  fail: { sign: "✗", count: "failed", heading: "Failed", colour: "red" },
  vacuous: { sign: "∅", count: "looked at nothing", heading: "Looked at nothing", colour: "red" },
  warn: { sign: "▲", count: "warned", heading: "Warned", colour: "yellow" },
  waived: { sign: "~", count: "waived", heading: "Waived", colour: "yellow" },
  "not-applicable": {
    sign: "–",
    count: "not applicable",
    heading: "Not applicable",
    colour: "gray",
  },
  "left-out": {
    sign: "…",
    count: "left out",
    heading: "Left out, since the budget was spent",
    colour: "yellow",
  },
  pass: { sign: "✓", count: "passed", heading: "Passed", colour: "green" },
};

/** Results that a reader has to act on come first. */
export const resultsByUrgency: readonly Result[] = [
  "error",
  "fail",
  "vacuous",
  "warn",
  "waived",
  "left-out",
  "not-applicable",
  "pass",
];

/** Results that end a run as failed or unusable. */
export const failingResults: readonly Result[] = ["error", "fail", "vacuous"];

/** Results whose problems are shown in full. */
export const problemResults: readonly Result[] = [...failingResults, "warn"];

export const verdictWords: Readonly<Record<ConformanceReport["verdict"], string>> = {
  passed: "passed",
  failed: "failed",
  unusable: "could not be judged",
};

export interface RuleGroup {
  /** "SPEC", "CHECK", …: the id up to its number. */
  readonly name: string;
  readonly rules: readonly RuleReport[];
}

/** The rules by group, in the order of the report. */
export function groupsOf(rules: readonly RuleReport[]): readonly RuleGroup[] {
  const groups = Map.groupBy(rules, (rule) => rule.id.replace(/-\d+$/, ""));
  return [...groups].map(([name, members]) => ({ name, rules: members }));
}

/** The rules with one of these results, the most urgent first. */
export function rulesWith(
  rules: readonly RuleReport[],
  wanted: readonly Result[],
): readonly RuleReport[] {
  return resultsByUrgency
    .filter((result) => wanted.includes(result))
    .flatMap((result) => rules.filter((rule) => rule.result === result));
}

export function countResults(rules: readonly RuleReport[]): Readonly<Record<Result, number>> {
  const count = (result: Result) => rules.filter((rule) => rule.result === result).length;
  return {
    error: count("error"),
    fail: count("fail"),
    vacuous: count("vacuous"),
    warn: count("warn"),
    waived: count("waived"),
    "left-out": count("left-out"),
    "not-applicable": count("not-applicable"),
    pass: count("pass"),
  };
}

/** "mailer 1.2.0". */
export function connectorLabel(report: ConformanceReport): string {
  return [report.connector.name, report.connector.version].filter(Boolean).join(" ");
}

/** "40 rules: 2 failed, 38 passed". Results that no rule has are left out. */
export function countsSentence(report: ConformanceReport): string {
  const parts = resultsByUrgency
    .filter((result) => report.counts[result] > 0)
    .map((result) => `${report.counts[result]} ${resultWords[result].count}`);
  return `${plural(report.rules.length, "rule")}: ${parts.join(", ") || "none was run"}`;
}

/** "1 rule", "1,200 rules". */
export function plural(count: number, noun: string): string {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}

/** "340 ms", "12.4 s", "3 min 5 s". */
export function durationText(durationMs: number): string {
  if (durationMs < 1000) return `${Math.round(durationMs)} ms`;
  if (durationMs < 59_950) return `${(durationMs / 1000).toFixed(1)} s`;
  const seconds = Math.round(durationMs / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
