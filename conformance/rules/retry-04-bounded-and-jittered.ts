import { exchangeEvidence, textEvidence } from "../contract/evidence.ts";
import type { Lab } from "../contract/lab.ts";
import { isOfClass } from "../contract/lab.ts";
import { defineRule, type Reporter } from "../contract/rule.ts";
import {
  firstRequests,
  gapsOf,
  isHotLoop,
  mostRefusals,
  type Refusals,
  type RequestPlace,
  refuse,
  seconds,
} from "../derive/requests/rate-limits.ts";
import { errorAnswer } from "../derive/sweeps/faults.ts";

/** Tries of one request; clients of large providers make 5 to 10. */
const mostTries = 25;
/**
 * From the first try to the last when the provider asks for no wait. A later run goes on where this
 * one gave up.
 */
const budgetMs = 3_600_000;
/** Runs whose waits are compared, and more of them where those leave a doubt. */
const runs = 6;
const moreRuns = 20;
/** Mean of the last waits over mean of the first, below which they do not grow. */
const leastGrowth = 1.25;
const retryAfterSeconds = 60;

export default defineRule({
  id: "RETRY-04",
  level: "MUST",
  profile: "resilient",
  since: "0.1.0",
  title:
    "Retries are bounded in number and time, then the run fails as rate_limit or transient; the waits between them grow, are jittered, and go through the injected clock.",
  why: "Endless retries hang a sync for days and hide an outage. Waits of one length make all clients of a provider come back in the same moment, and knock it down again.",
  fix: "Try about five times, wait random() * base * 2 ** attempt on the injected clock, then fail with the class of the fault.",
  good: "await clock.sleep(Math.random() * Math.min(cap, base * 2 ** attempt), signal);",
  bad: "while (true) { …; await new Promise((resolve) => setTimeout(resolve, 1000)); }",
  notApplicable(lab: Lab) {
    if (lab.egress !== "http")
      return "its provider is a database, which says nothing of when to try again";
    return lab.can("clock") ? undefined : "waits of this target cannot be seen";
  },
  async run(lab, report) {
    const places = await firstRequests(lab, 2);
    for (const place of places) {
      await bounded(lab, report, place, 429, {});
      await bounded(lab, report, place, 503, {});
      await bounded(lab, report, place, 429, { "retry-after": String(retryAfterSeconds) });
    }
    const last = places.at(-1);
    if (last && report.problemCount === 0) await jittered(lab, report, last);
  },
});

async function bounded(
  lab: Lab,
  report: Reporter,
  place: RequestPlace,
  status: number,
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  const asks = Object.entries(headers)
    .map(([name, value]) => ` and ${name}: ${value}`)
    .join("");
  const name = `${place.name}, and every request from there on answered ${status}${asks}`;
  report.checked(name);
  const { observation, tries, realMs } = await refuse(
    lab,
    place,
    errorAnswer(lab, status, headers),
    mostRefusals,
  );
  const evidence = exchangeEvidence("Requests", observation.exchanges, (exchange) =>
    tries.includes(exchange),
  );
  if (tries.length > mostTries)
    return report.fail(
      `${name}: it was tried ${tries.length}${tries.length >= mostRefusals ? " times, and would be tried for ever" : " times"}. Expected: an error after at most ${mostTries} tries.`,
      evidence,
    );
  const lastedMs = (tries.at(-1)?.atMs ?? 0) - (tries[0]?.atMs ?? 0);
  if (lastedMs > budgetMs)
    report.fail(
      `${name}: it was tried for ${Math.round(lastedMs / 60_000)} minutes. Expected: an error within ${budgetMs / 60_000} minutes.`,
      evidence,
    );
  if (isHotLoop(tries)) {
    const how =
      realMs > 5 * tries.length
        ? `, but ${Math.round(realMs)} ms of real time: the waits go past the injected clock`
        : ": there is no backoff";
    report.fail(
      `${name}: ${tries.length} tries within ${seconds(lastedMs)} of the clock${how}.`,
      evidence,
    );
  }
  const { failures } = observation.outcome;
  if (
    failures.length === 0 ||
    failures.some(
      (failure) => failure.classes.length === 0 || isOfClass(failure, "rate_limit", "transient"),
    )
  )
    return;
  const failed = failures
    .map(({ classes, message }) => `${classes.join(" or ")} ("${message}")`)
    .join(", ");
  report.fail(
    `${name}: the run fails as ${failed}. Expected: rate_limit or transient, so that it is tried again later.`,
    evidence,
  );
}

async function jittered(lab: Lab, report: Reporter, place: RequestPlace): Promise<void> {
  const name = `${place.name} answered 503 again and again: the waits`;
  const all: Refusals[] = [];
  const more = async (count: number) => {
    for (let index = 0; index < count; index++)
      all.push(await refuse(lab, place, errorAnswer(lab, 503), mostRefusals));
  };
  await more(runs);
  // Fewer than two waits do not grow; what does not wait at all is reported above.
  if (all.some(({ tries }) => tries.length < 3 || tries.length > mostTries || isHotLoop(tries)))
    return;
  report.checked(name);
  const texts = () => all.map(({ tries }) => gapsOf(tries).map(seconds).join(", "));
  if (new Set(texts()).size === 1) {
    report.fail(
      `${name} are the same in each of ${all.length} runs (${texts()[0]}). Expected: some chance in them, so that clients do not come back all at once.`,
      textEvidence("Waits of each run", texts().join("\n")),
    );
  }
  if (growthOf(all) < leastGrowth) await more(moreRuns);
  const growth = growthOf(all);
  if (growth < leastGrowth)
    report.fail(
      `${name} do not grow: the last is ${growth.toFixed(2)} times as long as the first, on average of ${all.length} runs (${texts()[0]}). Expected: each about twice the one before.`,
      textEvidence("Waits of each run", texts().join("\n")),
    );
}

function growthOf(all: readonly Refusals[]): number {
  const mean = (pick: (gaps: readonly number[]) => number | undefined) =>
    all.reduce((sum, { tries }) => sum + (pick(gapsOf(tries)) ?? 0), 0) / all.length;
  return mean((gaps) => gaps.at(-1)) / mean((gaps) => gaps[0]);
}
