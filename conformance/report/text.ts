/** The report for a terminal. */
import { styleText } from "node:util";
import type { ConformanceReport, Result, RuleReport } from "../contract/report.ts";
import { terminalLimits } from "./evidence.ts";
import { failureLines } from "./failure.ts";
import {
  connectorLabel,
  countsSentence,
  durationText,
  groupsOf,
  plural,
  problemResults,
  resultWords,
  rulesWith,
  verdictWords,
} from "./results.ts";
import { logLine } from "./visible.ts";

export interface TextOptions {
  /** ANSI colours. Default false. */
  readonly color?: boolean | undefined;
  /** Width of the terminal. Default 100. Only the table is fitted to it: evidence stays whole. */
  readonly columns?: number | undefined;
}

type Paint = (format: Parameters<typeof styleText>[0], text: string) => string;

/**
 * A table of all rules; what failed or warned, with evidence, fix and command; what was waived or
 * does not apply, with the reason; the sum in the last line. Ends with a line end.
 */
export function renderText(
  report: ConformanceReport,
  { color = false, columns = 100 }: TextOptions = {},
): string {
  const paint: Paint = color
    ? (format, text) => styleText(format, text, { validateStream: false })
    : (_, text) => text;
  const sections = [
    heading(report, paint),
    table(report.rules, columns, paint),
    ...rulesWith(report.rules, problemResults).map((rule) => failure(rule, paint)),
    ...reasons(report.rules, "waived", columns, paint),
    ...reasons(report.rules, "left-out", columns, paint),
    ...reasons(report.rules, "not-applicable", columns, paint),
    ...untried(report.rules, paint),
    summary(report, paint),
  ];
  return `${sections.map((lines) => lines.join("\n")).join("\n\n")}\n`;
}

function heading(report: ConformanceReport, paint: Paint): readonly string[] {
  const facts = [
    logLine(report.target),
    report.profiles.join(", "),
    `seed ${report.seed}`,
    report.isExhaustive ? "exhaustive" : "sampled",
    ...(report.budget ? [budgetText(report.budget)] : []),
  ];
  return [
    `${paint("bold", `Conformance of ${logLine(connectorLabel(report))}`)} · ${facts.join(" · ")}`,
  ];
}

function table(rules: readonly RuleReport[], columns: number, paint: Paint): readonly string[] {
  const idWidth = Math.max(...rules.map((rule) => rule.id.length), 0);
  const resultWidth = "not-applicable".length;
  const subjectsWidth = "subjects".length;
  const titleWidth = Math.max(
    20,
    columns - (2 + 2 + idWidth + 2 + 6 + 2 + resultWidth + 2 + subjectsWidth + 2),
  );
  const row = (rule: RuleReport) => {
    const { colour, sign } = resultWords[rule.result];
    return [
      `  ${paint(colour, sign)} ${rule.id.padEnd(idWidth)}`,
      rule.level.padEnd(6),
      paint(colour, rule.result.padEnd(resultWidth)),
      String(rule.subjectCount).padStart(subjectsWidth),
      fitted(logLine(rule.title), titleWidth),
    ].join("  ");
  };
  const head = `    ${"id".padEnd(idWidth)}  ${"level".padEnd(6)}  ${"result".padEnd(resultWidth)}  subjects  sentence`;
  return [paint("dim", head), ...groupsOf(rules).flatMap((group) => group.rules.map(row))];
}

function failure(rule: RuleReport, paint: Paint): readonly string[] {
  const { colour, sign } = resultWords[rule.result];
  const facts = paint(
    "dim",
    `(${rule.level}, ${rule.result}, ${plural(rule.subjectCount, "subject")})`,
  );
  return [
    `${paint([colour, "bold"], `${sign} ${rule.id}`)}  ${paint("bold", logLine(rule.title))}  ${facts}`,
    ...failureLines(rule, terminalLimits).map((line) => `  ${line}`),
  ];
}

function reasons(
  rules: readonly RuleReport[],
  result: Result,
  columns: number,
  paint: Paint,
): readonly (readonly string[])[] {
  const listed = rulesWith(rules, [result]);
  if (listed.length === 0) return [];
  const { heading: title, sign } = resultWords[result];
  const idWidth = Math.max(...listed.map((rule) => rule.id.length));
  const byReason = Map.groupBy(listed, ({ reason = "no reason given" }) => logLine(reason));
  const lines = [...byReason].flatMap(([reason, [first, ...others]]) => [
    `  ${sign} ${(first?.id ?? "").padEnd(idWidth)}  ${reason}`,
    ...inRows(others, idWidth, columns).map((row) => `    ${row}`),
  ]);
  return [[paint("bold", title), ...lines]];
}

/** Ids of rules for which the same holds, as many in a row as there is room for. */
function inRows(rules: readonly RuleReport[], idWidth: number, columns: number): string[] {
  const perRow = Math.max(1, Math.floor((columns - 4) / (idWidth + 2)));
  return Array.from({ length: Math.ceil(rules.length / perRow) }, (_, row) =>
    rules
      .slice(row * perRow, (row + 1) * perRow)
      .map(({ id }) => id.padEnd(idWidth))
      .join("  ")
      .trimEnd(),
  );
}

/** The parts that applicable rules could not try, with reasons. */
function untried(rules: readonly RuleReport[], paint: Paint): readonly (readonly string[])[] {
  const lines = rules
    .filter(({ result }) => result !== "not-applicable")
    .flatMap(({ id, untried: reasons = [] }) =>
      reasons.map((reason) => `  – ${id}  ${logLine(reason)}`),
    );
  return lines.length === 0 ? [] : [[paint("bold", "Not tried"), ...lines]];
}

const budgetText = ({ ms, effort }: NonNullable<ConformanceReport["budget"]>) =>
  `budget ${durationText(ms)}: ${Math.max(1, Math.round(effort * 100))} % of each sample`;

function summary(report: ConformanceReport, paint: Paint): readonly string[] {
  const colour = report.verdict === "passed" ? "green" : "red";
  const facts = [
    countsSentence(report),
    plural(report.runCount, "run"),
    durationText(report.durationMs),
    `seed ${report.seed}`,
  ];
  return [
    ...report.remarks.map((remark) => `${paint("red", "!")} ${logLine(remark)}`),
    `${paint([colour, "bold"], `${logLine(connectorLabel(report))} ${verdictWords[report.verdict]}`)} · ${facts.join(" · ")}`,
  ];
}

function fitted(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, width - 1).trimEnd()}…`;
}
