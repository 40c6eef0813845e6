/** The findings of a rule, as plain lines: for the terminal and the JUnit report. */
import type { RuleReport } from "../contract/report.ts";
import {
  type EvidenceLimits,
  howFound,
  leftOutNote,
  type ShownEvidence,
  showEvidence,
} from "./evidence.ts";
import { plural, resultWords } from "./results.ts";
import { logLine, visibleInLog } from "./visible.ts";

/**
 * Begins each line with text from outside, so that no such line is a command of a CI server
 * ("::set-env …"), which GitHub reads after leading spaces too.
 */
const gutter = "│ ";

/**
 * Problems with their evidence, then why, the fix and the command. Without indentation; each
 * problem line stands behind a bar.
 */
export function failureLines(rule: RuleReport, limits: EvidenceLimits): readonly string[] {
  return [
    ...foundLines(rule, limits).map((line) => gutter + line),
    `why    ${logLine(rule.why)}`,
    `fix    ${logLine(rule.fix)}`,
    `again  ${logLine(rule.repro)}`,
  ];
}

function foundLines(rule: RuleReport, limits: EvidenceLimits): readonly string[] {
  const shown = rule.problems.slice(0, limits.maxProblems);
  const lines = shown.flatMap((problem, index) => [
    ...(index > 0 ? [""] : []),
    ...linesOf(problem.sentence),
    ...(index < limits.maxProven ? problem.evidence : []).flatMap((evidence) =>
      evidenceLines(showEvidence(evidence, limits)),
    ),
  ]);
  const leftOut = rule.problems.length - shown.length;
  if (leftOut > 0) lines.push("", leftOutNote(leftOut, "more problem"));
  return [
    ...(rule.reason === undefined ? [] : linesOf(rule.reason)),
    ...lines,
    ...(isSilent(rule) ? [silence(rule)] : []),
  ];
}

function isSilent(rule: RuleReport): boolean {
  return rule.reason === undefined && rule.problems.length === 0;
}

/** A rule with neither a reason nor a problem still has something to say. */
export function silence(rule: RuleReport): string {
  if (rule.result !== "vacuous")
    return `The rule ${resultWords[rule.result].count} and gave no reason.`;
  return "The rule found nothing to look at, so it proves nothing. Add a recording that shows what it is about.";
}

function evidenceLines(evidence: ShownEvidence): readonly string[] {
  return ["", ...linesOf(evidence.title), ...bodyLines(evidence).map((line) => `  ${line}`)];
}

function bodyLines(evidence: ShownEvidence): readonly string[] {
  switch (evidence.kind) {
    case "exchanges":
      return evidence.items.flatMap((item) => {
        if ("leftOut" in item) return [leftOutNote(item.leftOut, "exchange")];
        const sign = item.isMarked ? "▶" : " ";
        return [
          ...linesOf(item.request).map((line, index) => `${index === 0 ? sign : " "} → ${line}`),
          ...(item.place === undefined ? [] : [`    asked for in ${logLine(item.place)}`]),
          ...linesOf(item.response).map((line) => `  ← ${line}`),
        ];
      });
    case "messages":
      return evidence.items.flatMap((item) => {
        if ("leftOut" in item) return [leftOutNote(item.leftOut, "message")];
        return linesOf(item.line).map(
          (line) => `${item.isMarked ? "▶" : " "} ${item.number} ${line}`,
        );
      });
    case "leak":
      return [
        ...linesOf(`${evidence.before}⟦${evidence.leak}⟧${evidence.after}`),
        `found ${logLine(howFound(evidence))}`,
      ];
    case "text":
      return linesOf(evidence.text);
  }
}

/** "config api_token, issued cookie and 3 more": what a rule looked at, on one line. */
export function subjectsText(rule: RuleReport): string {
  if (rule.subjectCount === 0) return "nothing";
  const named = rule.subjects.slice(0, 5).map(logLine);
  const more = rule.subjectCount - named.length;
  if (named.length === 0) return plural(rule.subjectCount, "subject");
  return named.join(", ") + (more > 0 ? ` and ${more.toLocaleString("en")} more` : "");
}

function linesOf(text: string): readonly string[] {
  return visibleInLog(text).trimEnd().split("\n");
}
