import { exchangeEvidence } from "../contract/evidence.ts";
import type { Lab } from "../contract/lab.ts";
import { isOfClass } from "../contract/lab.ts";
import { defineRule, type Reporter } from "../contract/rule.ts";
import {
  firstRequests,
  isHotLoop,
  mostRefusals,
  type Refusals,
  type RequestPlace,
  refuse,
} from "../derive/requests/rate-limits.ts";
import { quietLoss } from "../derive/rows/losses.ts";
import { errorAnswer } from "../derive/sweeps/faults.ts";
import { type VendorLimit, vendorLimits } from "./retry-07.limit-answers.ts";

const sampledPlaces = 3;

export default defineRule({
  id: "RETRY-07",
  level: "MUST",
  profile: "resilient",
  since: "0.1.0",
  title:
    "A rate limit that comes as 403 with nothing remaining, as a text in a 403, or as an error in a 200 is treated as a rate limit.",
  why: "GitHub and others refuse with 403 when a limit is used up. Taken for a missing permission, the stream fails or is skipped, and the user is sent to look for a right that is there.",
  fix: 'Look at x-ratelimit-remaining and the error\'s text before you call a 403 a missing permission. In svc the runtime knows the header; name the texts in egress errors: { status: 403, pointer: "/message", contains: "rate limit", code: "RATE_LIMITED" }.',
  good: 'if (status === 429 || (status === 403 && headers["x-ratelimit-remaining"] === "0")) await waitAndRetry();',
  bad: 'if (status === 403) throw new ConnectorError("PERMISSION_DENIED");',
  notApplicable: (lab: Lab) =>
    lab.egress === "http" ? undefined : "this connector speaks to a database",
  async run(lab, report) {
    // Where waits take real time, one request has to do.
    const places = lab.can("clock")
      ? await firstRequests(lab, sampledPlaces)
      : (await firstRequests(lab, 2)).slice(0, 1);
    for (const place of places) {
      for (const limit of vendorLimits(lab, place.exchange.atMs)) {
        await tryLimit(lab, report, place, limit, 1);
        if (lab.can("clock")) await tryLimit(lab, report, place, limit, mostRefusals);
      }
    }
  },
});

/**
 * Refused once: the same request again after a wait, or a failure of class rate_limit. For good:
 * bounded tries, then such a failure.
 */
async function tryLimit(
  lab: Lab,
  report: Reporter,
  place: RequestPlace,
  limit: VendorLimit,
  times: number,
): Promise<void> {
  const name = `${place.name}${times > 1 ? ", and every request from there on" : ""} answered ${limit.name}`;
  report.checked(name);
  const refused = await refuse(lab, place, limit.answer, times);
  const problem = problemOf(lab, place, refused);
  if (problem === undefined) return;
  // Other rules try how the connector handles a 429: this one asks whether it knows a limit when it
  // sees one.
  if (problemOf(lab, place, await refuse(lab, place, errorAnswer(lab, 429), times)) !== undefined)
    return;
  const { observation, tries } = refused;
  report.fail(
    `${name}: ${problem}. Expected: what the connector does on 429, another try after a wait or a rate_limit error.`,
    exchangeEvidence("Requests", observation.exchanges, (exchange) => tries.includes(exchange)),
  );
}

function problemOf(
  lab: Lab,
  place: RequestPlace,
  { observation, tries }: Refusals,
): string | undefined {
  if (lab.can("clock") && isHotLoop(tries))
    return `${tries.length} tries came without a wait between them`;
  const loss = quietLoss(lab, observation, place.whole);
  if (loss !== undefined) return `the read calls itself successful, with ${loss}`;
  const wrong = observation.outcome.failures.find(
    (failure) => failure.classes.length > 0 && !isOfClass(failure, "rate_limit"),
  );
  return wrong && `the failure is of class ${wrong.classes.join(" or ")} ("${wrong.message}")`;
}
