/** One rule in the HTML report. */
import type { RuleReport } from "../contract/report.ts";
import { leftOutNote, pageLimits } from "./evidence.ts";
import { silence, subjectsText } from "./failure.ts";
import { evidenceMarkup } from "./html-evidence.ts";
import { type Markup, markup } from "./markup.ts";
import { durationText, plural, resultWords } from "./results.ts";

/** A rule whose problems are shown in full: evidence, why, fix, command. */
export function detailedRule(rule: RuleReport): Markup {
  const problems = rule.problems.slice(0, pageLimits.maxProblems);
  const leftOut = rule.problems.length - problems.length;
  const reason = rule.reason ?? (rule.problems.length === 0 ? silence(rule) : undefined);
  return markup`<article class="rule ${rule.result}" id="${rule.id}" data-result="${rule.result}">
${header(rule)}
${
  reason === undefined
    ? ""
    : markup`<div class="problem"><p class="sentence">${reason}</p></div>
`
}${problems.map(
  (problem) => markup`<div class="problem"><p class="sentence">${problem.sentence}</p>
${problem.evidence.map(evidenceMarkup)}</div>
`,
)}${leftOut > 0 ? markup`<p class="gap">${leftOutNote(leftOut, "more problem")}</p>` : ""}
<dl class="advice"><dt>Why it matters</dt><dd>${rule.why}</dd><dt>How to fix it</dt><dd>${rule.fix}</dd><dt>Try again</dt><dd><code>${rule.repro}</code></dd><dt>Looked at</dt><dd>${subjectsText(rule)}</dd>${untried(rule)}</dl>
</article>
`;
}

const untried = ({ untried: reasons }: RuleReport) =>
  reasons === undefined ? "" : markup`<dt>Not tried</dt><dd>${reasons.join("; ")}</dd>`;

/** A rule that needs no action: its sentence, and the reason where there is one. */
export function briefRule(rule: RuleReport): Markup {
  return markup`<article class="rule brief ${rule.result}" id="${rule.id}" data-result="${rule.result}">
${header(rule)}
${
  rule.reason === undefined
    ? ""
    : markup`<p>${rule.reason}</p>
`
}</article>
`;
}

function header({
  id,
  title,
  level,
  result,
  subjectCount,
  runCount,
  durationMs,
}: RuleReport): Markup {
  const facts = [
    level,
    plural(subjectCount, "subject"),
    plural(runCount, "run"),
    durationText(durationMs),
  ];
  return markup`<header><span class="badge">${resultWords[result].sign} ${result}</span><h3><a class="id" href="#${id}">${id}</a> ${title}</h3><span class="soft">${facts.join(" · ")}</span></header>`;
}
