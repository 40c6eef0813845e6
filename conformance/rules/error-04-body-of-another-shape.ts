import { exchangeEvidence } from "../contract/evidence.ts";
import type { Lab } from "../contract/lab.ts";
import { defineRule, type Reporter } from "../contract/rule.ts";
import { reportNoReads } from "../derive/requests/rate-limits.ts";
import { quietLoss } from "../derive/rows/losses.ts";
import { type WrongAnswerRun, wrongAnswers } from "../derive/sweeps/wrong-answers.ts";
import { wrongLists } from "../derive/sweeps/wrong-lists.ts";

export default defineRule({
  id: "ERROR-04",
  level: "MUST",
  profile: "core",
  since: "0.1.0",
  title:
    "A 200 with a web page, an empty body, cut off JSON or JSON of another shape is an error, not an empty page.",
  why: "Login pages, proxies and changed APIs answer 200. A connector that finds no rows in them ends its sync as complete, and rows that exist are deleted at the destination.",
  fix: "Parse strictly, and fail when the rows are not a list where they belong.",
  good: 'const { items } = JSON.parse(text);\nif (!Array.isArray(items)) throw new ConnectorError("RESPONSE_INVALID");',
  bad: "try { return JSON.parse(text).items ?? []; } catch { return []; }",
  notApplicable: (lab: Lab) =>
    lab.egress === "http" ? undefined : "this connector speaks to a database",
  async run(lab, report) {
    const runs = await wrongAnswers(lab);
    if (runs.length === 0) return await reportNoReads(lab, report);
    for (const run of runs)
      reportRun(run, quietLoss(lab, run.observation, run.place.whole), report);
    const lists = await wrongLists(lab);
    for (const { loss, ...run } of lists.runs) reportRun(run, loss, report);
    for (const reason of lists.untried) report.untried(reason);
  },
});

/** `loss`: of a run that calls itself successful. */
function reportRun(
  { name, observation, tries }: WrongAnswerRun,
  loss: string | undefined,
  report: Reporter,
): void {
  report.checked(name);
  if (loss !== undefined)
    report.fail(
      `${name}: the read calls itself successful, with ${loss}. Expected: a failure.`,
      exchangeEvidence("Requests", observation.exchanges, (exchange) => tries.includes(exchange)),
    );
}
