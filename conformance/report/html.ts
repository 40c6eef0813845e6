/**
 * The report as one HTML page that can be mailed, kept and opened anywhere: it loads nothing and
 * works without JavaScript.
 */
import type { ConformanceReport, Result, RuleReport } from "../contract/report.ts";
import { htmlPage } from "./html-page.ts";
import { briefRule, detailedRule } from "./html-rule.ts";
import { type Markup, markup } from "./markup.ts";
import {
  connectorLabel,
  countResults,
  countsSentence,
  durationText,
  groupsOf,
  problemResults,
  resultsByUrgency,
  resultWords,
  rulesWith,
  verdictWords,
} from "./results.ts";

export function renderHtml(report: ConformanceReport): string {
  const title = `${connectorLabel(report)} ${verdictWords[report.verdict]}`;
  return htmlPage(
    `${title} · conformance`,
    markup`${verdict(report)}
${filter(report)}
<main>
${resultsByUrgency.filter((result) => result !== "pass").map((result) => section(report.rules, result))}${passedSection(report.rules)}</main>
<footer><p>Made by the conformance kit of svc ${report.kitVersion}. Secrets in this page are made up by the kit.</p></footer>`,
  );
}

function verdict(report: ConformanceReport): Markup {
  const facts: readonly (readonly [string, string])[] = [
    ["Target", report.target],
    ["Profiles", report.profiles.join(", ")],
    ["Seed", `${report.seed}${report.isExhaustive ? ", exhaustive" : ", sampled"}`],
    ["Runs", report.runCount.toLocaleString("en")],
    ["Duration", durationText(report.durationMs)],
    ["Started", report.startedAt.replace("T", " ").replace(/(\.\d+)?Z$/, " UTC")],
  ];
  return markup`<header class="verdict ${report.verdict === "passed" ? "pass" : "fail"}">
<h1>${connectorLabel(report)} <strong>${verdictWords[report.verdict]}</strong></h1>
<p>${countsSentence(report)}</p>
${report.remarks.map((remark) => markup`<p class="remark">${remark}</p>`)}
${bar(report)}
<dl class="facts">${facts.map(([name, value]) => markup`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
${groupList(report.rules)}
</header>`;
}

/** Counts as a picture; the sentence above says the same in words. */
function bar({ counts, rules }: ConformanceReport): Markup {
  let start = 0;
  const parts = resultsByUrgency.map((result) => {
    const x = start;
    start += counts[result];
    return markup`<rect class="${result}" x="${x}" y="0" width="${counts[result]}" height="1"/>`;
  });
  return markup`<svg class="bar" viewBox="0 0 ${Math.max(rules.length, 1)} 1" preserveAspectRatio="none" aria-hidden="true">${parts}</svg>`;
}

/** Shown by the script only, since nothing works in it without. */
function filter({ counts, rules }: ConformanceReport): Markup {
  const choice = (value: string, label: string, count: number) =>
    markup`<label class="choice"><input type="radio" name="result" value="${value}"${value === "" ? markup` checked` : ""}><span>${label} ${count}</span></label>`;
  return markup`<form id="filter" hidden>
<fieldset><legend class="unseen">Result</legend>${choice("", "all", rules.length)}${resultsByUrgency
    .filter((result) => counts[result] > 0)
    .map((result) =>
      choice(result, `${resultWords[result].sign} ${result}`, counts[result]),
    )}</fieldset>
<input type="search" name="text" placeholder="Search rules and evidence" aria-label="Search rules and evidence" autocomplete="off" spellcheck="false">
<p id="shown" role="status"></p>
</form>`;
}

function section(rules: readonly RuleReport[], result: Result): Markup | undefined {
  const listed = rulesWith(rules, [result]);
  if (listed.length === 0) return undefined;
  return markup`<section class="rules"><h2>${resultWords[result].heading} (${listed.length})</h2>
${listed.map(problemResults.includes(result) ? detailedRule : briefRule)}</section>
`;
}

function passedSection(rules: readonly RuleReport[]): Markup | undefined {
  const passed = rulesWith(rules, ["pass"]);
  if (passed.length === 0) return undefined;
  return markup`<details id="passed" class="rules"><summary>${resultWords.pass.heading} (${passed.length})</summary>
${groupsOf(passed).map(
  (group) => markup`<section class="rules"><h3 class="group">${group.name}</h3>
${group.rules.map(briefRule)}</section>
`,
)}</details>
`;
}

/** The result of each group, with a link to its rules. */
function groupList(rules: readonly RuleReport[]): Markup {
  return markup`<ul class="groups" aria-label="Results by group">
${groupsOf(rules).map(
  (
    group,
  ) => markup`<li><a href="#text=${group.name}-"><b>${group.name}</b>${groupCounts(group.rules)}</a></li>
`,
)}</ul>`;
}

function groupCounts(rules: readonly RuleReport[]): readonly Markup[] {
  const counts = countResults(rules);
  return resultsByUrgency
    .filter((result) => counts[result] > 0)
    .map((result) => {
      const { sign, count } = resultWords[result];
      return markup`<span class="${result}" title="${counts[result]} ${count}">${sign} ${counts[result]}<i class="unseen"> ${count}</i></span>`;
    });
}
