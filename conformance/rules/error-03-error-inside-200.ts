import { exchangeEvidence } from "../contract/evidence.ts";
import type { Lab } from "../contract/lab.ts";
import { defineRule, type Reporter } from "../contract/rule.ts";
import { ownErrors } from "../derive/requests/own-errors.ts";
import { reportNoReads } from "../derive/requests/rate-limits.ts";
import { halfAnswers } from "../derive/rows/half-answers.ts";
import { keyedAnswers } from "../derive/rows/keyed-answers.ts";
import { quietLoss } from "../derive/rows/losses.ts";
import { errorAnswers } from "../derive/sweeps/error-answers.ts";
import { errorMembers } from "../derive/sweeps/error-members.ts";

export default defineRule({
  id: "ERROR-03",
  level: "MUST",
  profile: "core",
  since: "0.1.0",
  title:
    "An answer of status 200 that carries an error is an error, also beside a part of the rows or in place of one.",
  why: "Many providers report failures inside a 200, and some give the rows that they could get beside it. A connector that looks for rows only finds none, or half of them, and calls the sync complete.",
  fix: 'Look for the provider\'s error fields before the rows, also in answers that have some, and fail when the rows are not where they belong or one of them is none. In svc: egress errors { status: 200, pointer: "/error", code }.',
  good: 'if (!Array.isArray(body.items)) throw new ConnectorError("RESPONSE_INVALID");',
  bad: "for (const row of body.items ?? []) yield record(row);",
  notApplicable: (lab: Lab) =>
    lab.egress === "http" ? undefined : "this connector speaks to a database",
  async run(lab, report) {
    await tryChecks(lab, report);
    const runs = await errorAnswers(lab);
    if (runs.length === 0) return await reportNoReads(lab, report);
    const own = ownErrors(lab);
    if (own.length === 0)
      report.untried(
        "a part of the rows beside an error, with status 200 or 206: how this provider reports one is not known (answers.yaml with an answer 200, or egress errors)",
      );
    for (const place of new Set(runs.map((run) => run.place)))
      if (halfAnswers(lab, place, own).length + keyedAnswers(place.exchange, own).length === 0)
        report.untried(
          `${place.name}: a part of its rows: they are no records, or there is one alone`,
        );
    for (const { name, place, observation, tries } of runs) {
      report.checked(name);
      const loss = quietLoss(lab, observation, place.whole);
      if (loss !== undefined)
        report.fail(
          `${name}: the read calls itself successful, with ${loss}. Expected: a failure.`,
          exchangeEvidence("Requests", observation.exchanges, (exchange) =>
            tries.includes(exchange),
          ),
        );
    }
  },
});

/** An answer of check says that something failed, beside all that it says at other times. */
async function tryChecks(lab: Lab, report: Reporter): Promise<void> {
  for (const { name, command, provider, isAnsweredBy } of await errorMembers(lab)) {
    report.checked(name);
    const { outcome, exchanges } = await lab.run(command, { provider });
    if (outcome.status === "succeeded")
      report.fail(
        `${name}: check succeeded. Expected: a failure.`,
        exchangeEvidence("Requests", exchanges, isAnsweredBy),
      );
  }
}
