import { exchangeEvidence, messageEvidence } from "../contract/evidence.ts";
import { defineRule } from "../contract/rule.ts";
import { quietLoss } from "../derive/rows/losses.ts";
import { faultSweep } from "../derive/sweeps/faults.ts";
import { deniedParents } from "./error-05.denied-parents.ts";
import { refusedPages } from "./error-05.refused-pages.ts";

export default defineRule({
  id: "ERROR-05",
  level: "MUST",
  profile: "core",
  since: "0.1.0",
  title:
    "A read in which one request fails, or all about one parent are refused, gives all rows after another try, fails with an error, or says what it skipped.",
  why: "A sync that swallows a failure is the worst of all: it is green, rows are missing, and nobody looks.",
  fix: "Let errors of requests end the stream. Where a part may be skipped, log a warning with the class of the error and the count, or end the stream as INCOMPLETE with a TRACE ERROR.",
  good: 'if (response.status === 404) throw new ConnectorError("RESOURCE_NOT_FOUND");',
  bad: "try { page = await fetchPage(next); } catch { break; }",
  async run(lab, report) {
    for (const { name, fault, observation, undisturbed, at } of await faultSweep(lab)) {
      // Other rules look at a 200 that is none (ERROR-03, ERROR-04), and at checks (CHECK-04).
      if (fault.kind === "body" || observation.command.verb !== "read") continue;
      if (undisturbed.outcome.status !== "succeeded") {
        report.untried(`${name}: the read fails also when nothing disturbs it`);
        continue;
      }
      report.checked(name);
      const requests = exchangeEvidence(
        "Requests",
        observation.exchanges,
        ({ request }) => request.index === at,
      );
      const loss = quietLoss(lab, observation, undisturbed);
      if (loss !== undefined)
        report.fail(
          `${name}: the read calls itself successful, with ${loss}. Expected: all rows, or a failure.`,
          requests,
        );
      const { status, failures } = observation.outcome;
      if (status === "failed" && failures.length === 0)
        report.fail(
          `${name}: the read failed and does not say why: no TRACE ERROR was written.`,
          requests,
          messageEvidence("The last messages", observation, [observation.messages.length - 1]),
        );
    }
    for (const refused of [...(await refusedPages(lab)), ...(await deniedParents(lab))]) {
      if (typeof refused === "string") {
        report.untried(refused);
        continue;
      }
      const { name, observation, undisturbed, isRefused } = refused;
      report.checked(name);
      const loss = quietLoss(lab, observation, undisturbed);
      if (loss !== undefined)
        report.fail(
          `${name}, and the read calls itself successful, with ${loss}. Expected: a failure, or a warning that says what it skipped.`,
          exchangeEvidence("Requests", observation.exchanges, ({ request }) => isRefused(request)),
        );
    }
  },
});
