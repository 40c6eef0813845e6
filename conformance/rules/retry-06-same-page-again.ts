import { exchangeEvidence } from "../contract/evidence.ts";
import type { Lab } from "../contract/lab.ts";
import type { Answer } from "../contract/network.ts";
import type { Observation } from "../contract/observation.ts";
import { defineRule, type Reporter } from "../contract/rule.ts";
import {
  movingNames,
  type RequestPlace,
  refuse,
  requestKey,
  requestPlaces,
  triesOf,
} from "../derive/requests/rate-limits.ts";
import { undisturbed } from "../derive/rows/losses.ts";
import { errorAnswer } from "../derive/sweeps/faults.ts";
import { staleIn } from "./retry-06.stale-proofs.ts";
import { expireTokens } from "./retry-06.token-expiry.ts";

const sampledPlaces = 8;

export default defineRule({
  id: "RETRY-06",
  level: "MUST",
  profile: "resilient",
  since: "0.1.0",
  title:
    "A retry repeats the very same page and body, skips and doubles none, and proves anew who asks.",
  why: "A page number that moves on before the retry loses a page for ever. A signature or token from before the wait is refused after it, and a passing fault becomes a failed sync.",
  fix: "Put the retry around one request: page and body stay, and everything that depends on the time (token, timestamp, signature) is made inside it.",
  good: "await retry(async () => fetch(url, { headers: await authHeaders() }));",
  bad: "const headers = await authHeaders();\nawait retry(() => fetch(pageUrl(page++), { headers }));",
  notApplicable: (lab: Lab) =>
    lab.egress === "http" ? undefined : "this connector speaks to a database",
  async run(lab, report) {
    const places = await requestPlaces(lab);
    const chosen = lab.sample(places, lab.can("clock") ? sampledPlaces : 2);
    // A wait that is long enough to make a proof stale, where it takes no real time.
    const headers: Readonly<Record<string, string>> = lab.can("clock")
      ? { "retry-after": "90" }
      : {};
    for (const place of chosen) {
      await samePages(lab, report, place, "answered 503", errorAnswer(lab, 503, headers));
      await samePages(lab, report, place, "broken by a reset", {
        ...errorAnswer(lab, 503),
        fault: { type: "reset" },
      });
    }
    for (const place of lab.can("clock") ? lab.sample(places, 2) : []) {
      const expiry = await expireTokens(lab, place);
      if (!expiry) continue;
      report.checked(expiry.name);
      if (expiry.problem)
        report.fail(
          `${expiry.name}: ${expiry.problem}`,
          exchangeEvidence(
            "Requests",
            expiry.observation.exchanges,
            ({ request }) => request.index >= place.at,
          ),
        );
    }
  },
});

async function samePages(
  lab: Lab,
  report: Reporter,
  place: RequestPlace,
  what: string,
  fault: Answer,
): Promise<void> {
  const name = `${place.name} ${what}`;
  report.checked(name);
  const { observation } = await refuse(lab, place, fault);
  const tries = triesOf(observation, place.at);
  const evidence = exchangeEvidence(
    "Requests",
    observation.exchanges,
    ({ request }) => request.index >= place.at && request.index <= place.at + 1,
  );
  const isSuccess = observation.outcome.status === "succeeded";
  const later = await undisturbedLater(lab, place);
  const moving = movingNames(place.whole, later);
  const keysOf = ({ exchanges }: Observation) =>
    countKeys(exchanges.map(({ request }) => requestKey(request, moving)));
  const [expected, given] = [keysOf(place.whole), keysOf(observation)];
  const refused = requestKey(place.exchange.request, moving);
  const skipped = [...expected].filter(
    ([key, count]) => (given.get(key) ?? 0) < count + (key === refused ? 1 : 0),
  );
  const doubled = [...given].filter(
    ([key, count]) => count > (expected.get(key) ?? 0) + (key === refused ? 1 : 0),
  );
  // Where it gave up, or took the fault for the end, what comes later is missing too: that is for
  // RETRY-05 and ERROR-05 to say.
  const goesOn = observation.exchanges.length > place.at + 1;
  if (!goesOn) return;
  if (doubled.length > 0)
    report.fail(
      `${name}: then came ${doubled
        .slice(0, 2)
        .map(([key]) => shown(key))
        .join(
          " and ",
        )}, which ${doubled.length === 1 ? "is" : "are"} not asked for, or not so often, when nothing fails. Expected: the same page once more.`,
      evidence,
    );
  else if (isSuccess && skipped.some(([key]) => key !== refused) && tries.length > 1)
    report.fail(
      `${name}: ${skipped
        .slice(0, 2)
        .map(([key]) => shown(key))
        .join(
          " and ",
        )} was not asked for any more. Expected: every page once, the refused one twice.`,
      evidence,
    );
  for (const stale of staleIn(tries, place, later))
    report.fail(
      `${name}: ${stale.where} is the same ${stale.waitedText} later, though it depends on the time. Expected: made anew for each try.`,
      evidence,
    );
}

function countKeys(keys: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}

const shown = (key: string) => (key.length > 200 ? `${key.slice(0, 200)}…` : key);

/** The same run an hour later: what differs in it depends on the time. */
function undisturbedLater(lab: Lab, { recording, command }: RequestPlace) {
  return lab.once(`an hour later: ${recording.name}`, async () => {
    await undisturbed(lab, recording);
    return await lab.run(command, { clockShiftMs: 3_600_000 });
  });
}
