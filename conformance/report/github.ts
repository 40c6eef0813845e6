/** Annotations of GitHub Actions. */
import type { ConformanceReport, RuleReport } from "../contract/report.ts";
import { silence } from "./failure.ts";
import {
  connectorLabel,
  countsSentence,
  failingResults,
  rulesWith,
  verdictWords,
} from "./results.ts";
import { visible, visibleLine } from "./visible.ts";

/**
 * GitHub shows at most so many annotations of each kind for one step.
 *
 * @see https://github.com/actions/toolkit/blob/main/docs/problem-matchers.md section Limitations
 * (read 2026-11-21)
 */
const maxAnnotations = 10;

/**
 * Longer titles are refused.
 * @see https://docs.github.com/en/rest/checks/runs field `annotations[].title`
 */
const maxTitleLength = 255;

/**
 * A workflow command a line: errors for failures and remarks, warnings for SHOULD rules, and a
 * notice with the sum.
 */
export function renderGithub(report: ConformanceReport): string {
  const errors = [
    ...report.remarks.map((remark) =>
      command("error", `Conformance of ${connectorLabel(report)}`, remark),
    ),
    ...rulesWith(report.rules, failingResults).map((rule) => annotation("error", rule)),
  ];
  const warnings = rulesWith(report.rules, ["warn"]).map((rule) => annotation("warning", rule));
  const hidden =
    Math.max(0, errors.length - maxAnnotations) + Math.max(0, warnings.length - maxAnnotations);
  const summary = [
    `Conformance of ${connectorLabel(report)} ${verdictWords[report.verdict]}.`,
    `${countsSentence(report)}.`,
    ...(hidden > 0
      ? [`${hidden} more ${hidden === 1 ? "is" : "are"} not annotated here: see the report.`]
      : []),
  ];
  const lines = [
    ...errors.slice(0, maxAnnotations),
    ...warnings.slice(0, maxAnnotations),
    command("notice", "Conformance", summary.join(" ")),
  ];
  return `${lines.join("\n")}\n`;
}

function annotation(kind: "error" | "warning", rule: RuleReport): string {
  const [first, ...more] = rule.problems;
  const message = [
    first?.sentence ?? rule.reason ?? silence(rule),
    ...(more.length > 0 ? [`(and ${more.length} more)`] : []),
    `Fix: ${rule.fix}`,
    `Again: ${rule.repro}`,
  ];
  return command(kind, `${rule.id} ${rule.title}`, message.join("\n"));
}

/**
 * @see https://docs.github.com/en/actions/reference/workflow-commands-for-github-actions; escapes
 * as in actions/toolkit command.ts
 */
function command(kind: "error" | "warning" | "notice", title: string, message: string): string {
  return `::${kind} title=${escapeProperty(visibleLine(title).slice(0, maxTitleLength))}::${escapeData(visible(message))}`;
}

function escapeData(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}
