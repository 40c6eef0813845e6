import { exchangeEvidence } from "../contract/evidence.ts";
import type { Lab } from "../contract/lab.ts";
import { defineRule, type Reporter } from "../contract/rule.ts";
import { earlyAfter, firstRequests, refuse, seconds } from "../derive/requests/rate-limits.ts";
import { errorAnswer } from "../derive/sweeps/faults.ts";

const askedSeconds = 37;
/** Of targets whose waits are real ones. */
const realSeconds = 2;
/** Timers may be so much early; a busy machine only makes requests late. */
const toleranceMs = 100;

export default defineRule({
  id: "RETRY-01",
  level: "MUST",
  profile: "resilient",
  since: "0.1.0",
  title: "A Retry-After in seconds is honoured: no request is sent earlier.",
  why: "Providers block clients that knock during the wait they asked for, often for hours, and every other sync of that account with them.",
  fix: "Wait for Retry-After on the injected clock before the next request, whatever your own backoff says.",
  good: "await clock.sleep(Number(response.headers.get('retry-after')) * 1000, signal);",
  bad: "await clock.sleep(1000 * 2 ** attempt, signal); // reads the header, uses a guess",
  notApplicable(lab: Lab) {
    return lab.egress === "http"
      ? undefined
      : "its provider is a database, which says nothing of when to try again";
  },
  async run(lab, report) {
    if (!lab.can("clock")) return inRealTime(lab, report);
    for (const place of await firstRequests(lab)) {
      for (const status of [429, 503]) {
        const name = `${place.name} answered ${status} with Retry-After: ${askedSeconds}`;
        report.checked(name);
        const { observation, tries } = await refuse(
          lab,
          place,
          errorAnswer(lab, status, { "retry-after": String(askedSeconds) }),
        );
        const [refused] = tries;
        const early = earlyAfter(
          observation,
          place.at,
          (refused?.atMs ?? 0) + askedSeconds * 1_000,
        );
        if (refused && early)
          report.fail(
            `${name}; the next request came after ${seconds(early.atMs - refused.atMs)}.`,
            exchangeEvidence(
              "Requests",
              observation.exchanges,
              (exchange) => exchange === refused || exchange === early,
            ),
          );
      }
    }
  },
});

/** The request is tried again in real time, as the kit's server sees it. */
async function inRealTime(lab: Lab, report: Reporter): Promise<void> {
  const place = (await firstRequests(lab, 2)).at(-1);
  if (!place) return;
  for (const status of [429, 503]) {
    const name = `${place.name} answered ${status} with Retry-After: ${realSeconds}`;
    const answer = errorAnswer(lab, status, { "retry-after": String(realSeconds) });
    const { observation, tries, firstWaitMs } = await refuse(lab, place, answer);
    if (firstWaitMs === undefined) {
      report.untried(`${name}: it is not tried again`);
      continue;
    }
    report.checked(name);
    if (firstWaitMs < realSeconds * 1_000 - toleranceMs)
      report.fail(
        `${name}; the next request came after ${seconds(firstWaitMs)}.`,
        exchangeEvidence("Requests", observation.exchanges, (exchange) =>
          tries.slice(0, 2).includes(exchange),
        ),
      );
  }
}
