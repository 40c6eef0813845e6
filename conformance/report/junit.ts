/**
 * JUnit XML, as Jenkins, GitLab and others read it: a suite for each group of rules, a case for
 * each rule.
 */
import type { ConformanceReport, RuleReport } from "../contract/report.ts";
import { terminalLimits } from "./evidence.ts";
import { failureLines, silence } from "./failure.ts";
import { type Markup, markup } from "./markup.ts";
import { connectorLabel, countResults, groupsOf, type RuleGroup, verdictWords } from "./results.ts";
import { visibleLine } from "./visible.ts";

/**
 * Failed and vacuous rules are failures, the kit's own faults errors, waived and inapplicable rules
 * skipped. A warning is a passed case with output, since servers take every failure as a reason to
 * stop. The suite RUN fails when the run does, so that a run which fails without a failed rule is
 * red too.
 *
 * @see https://github.com/jenkinsci/xunit-plugin schema junit-10.xsd (element order and attributes)
 */
export function renderJunit(report: ConformanceReport): string {
  const suites = groupsOf(report.rules).map((group) => suite(report, group));
  const totals = [...report.rules.map(failureKind), runKind(report)];
  return markup`<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="${line(`conformance of ${connectorLabel(report)}`)}" tests="${totals.length}" failures="${count(totals, "failure")}" errors="${count(totals, "error")}" time="${seconds(report.durationMs)}">
${suites}${runSuite(report)}</testsuites>
`.text;
}

function suite(report: ConformanceReport, { name, rules }: RuleGroup): Markup {
  const counts = countResults(rules);
  const durationMs = rules.reduce((sum, rule) => sum + rule.durationMs, 0);
  return markup`  <testsuite name="${line(name)}" tests="${rules.length}" failures="${counts.fail + counts.vacuous}" errors="${counts.error}" skipped="${counts.waived + counts["not-applicable"] + counts["left-out"]}" time="${seconds(durationMs)}" timestamp="${timestamp(report)}">
${rules.map((rule) => testCase(name, rule))}  </testsuite>
`;
}

function testCase(group: string, rule: RuleReport): Markup {
  return markup`    <testcase classname="${line(`conformance.${group}`)}" name="${line(`${rule.id} ${rule.title}`)}" time="${seconds(rule.durationMs)}">${outcome(rule)}</testcase>
`;
}

function outcome(rule: RuleReport): Markup | undefined {
  const message = line(rule.problems[0]?.sentence ?? rule.reason ?? silence(rule));
  const text = () => failureLines(rule, terminalLimits).join("\n");
  switch (rule.result) {
    case "pass":
      return undefined;
    case "warn":
      return markup`<system-out>${text()}</system-out>`;
    case "waived":
    case "not-applicable":
    case "left-out":
      return markup`<skipped message="${line(`${rule.result}: ${rule.reason ?? "no reason given"}`)}"/>`;
    case "error":
      return markup`<error type="error" message="${message}">${text()}</error>`;
    case "fail":
    case "vacuous":
      return markup`<failure type="${rule.result}" message="${message}">${text()}</failure>`;
  }
}

function runSuite(report: ConformanceReport): Markup {
  const kind = runKind(report);
  const remarks = report.remarks.join("\n") || `The run ${verdictWords[report.verdict]}.`;
  const body =
    kind === "failure"
      ? markup`<failure type="run" message="${line(remarks)}">${remarks}</failure>`
      : kind === "error"
        ? markup`<error type="run" message="${line(remarks)}">${remarks}</error>`
        : undefined;
  return markup`  <testsuite name="RUN" tests="1" failures="${kind === "failure" ? 1 : 0}" errors="${kind === "error" ? 1 : 0}" skipped="0" time="0.000" timestamp="${timestamp(report)}">
    <testcase classname="conformance.RUN" name="The run as a whole" time="0.000">${body}</testcase>
  </testsuite>
`;
}

type FailureKind = "failure" | "error" | "none";

function failureKind(rule: RuleReport): FailureKind {
  if (rule.result === "error") return "error";
  return rule.result === "fail" || rule.result === "vacuous" ? "failure" : "none";
}

function runKind(report: ConformanceReport): FailureKind {
  if (report.verdict === "passed") return "none";
  return report.verdict === "failed" ? "failure" : "error";
}

function count(kinds: readonly FailureKind[], wanted: FailureKind): number {
  return kinds.filter((kind) => kind === wanted).length;
}

/** Attributes hold one line: parsers turn line ends in them into spaces anyway. */
function line(text: string): string {
  return visibleLine(text);
}

function seconds(durationMs: number): string {
  return (durationMs / 1000).toFixed(3);
}

/** The schema allows neither a zone nor fractions; the time is UTC. */
function timestamp(report: ConformanceReport): string {
  return line(report.startedAt).slice(0, "2026-11-21T10:00:00".length);
}
