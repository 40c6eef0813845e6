import { exchangeEvidence } from "../contract/evidence.ts";
import type { Lab } from "../contract/lab.ts";
import { defineRule } from "../contract/rule.ts";
import {
  firstRequests,
  gapsOf,
  isHotLoop,
  mostRefusals,
  refuse,
  seconds,
} from "../derive/requests/rate-limits.ts";
import { errorAnswer } from "../derive/sweeps/faults.ts";

/** A wait that a sync may make before it gives up and lets a later run go on. */
const longestWaitMs = 86_400_000;

const values = (nowMs: number): readonly string[] => [
  "soon",
  "",
  "-30",
  "NaN",
  "Infinity",
  "1e400",
  "0x10",
  "3,7",
  new Date(nowMs - 3_600_000).toUTCString(),
  "Thu, 99 Foo 2026 99:99:99 GMT",
  // 2^31 ms is where a timer of Node overflows and fires at once; 2^32 ms is 0 for 32 bits.
  "2147484",
  "4294968",
  "9999999999",
  "99999999999999999999",
];

export default defineRule({
  id: "RETRY-03",
  level: "MUST",
  profile: "resilient",
  since: "0.1.0",
  title:
    "A Retry-After that is malformed, negative, past or beyond all bounds leads to the usual backoff or an end, never to a hot loop.",
  why: "A timer given NaN, a negative number or more than 2^31-1 ms fires at once: thousands of requests a minute against a provider that asked for peace.",
  fix: "Use Retry-After only when it is a finite wait above zero and below a cap; else your own backoff, or give up with a rate_limit error.",
  good: "const waitMs = asked > 0 && asked <= maxWaitMs ? asked : backoffMs;",
  bad: "setTimeout(next, Number(retryAfter) * 1000); // 9999999999000 overflows to 1 ms",
  notApplicable(lab: Lab) {
    if (lab.egress !== "http")
      return "its provider is a database, which says nothing of when to try again";
    return lab.can("clock") ? undefined : "waits of this target cannot be seen";
  },
  async run(lab, report) {
    const [place] = await firstRequests(lab, 1);
    const last = (await firstRequests(lab, 2)).at(-1);
    if (!place || !last)
      return report.missing("No recording that succeeds has a request: record one.");
    for (const [index, value] of values(place.exchange.atMs).entries()) {
      const tried = index % 2 === 0 ? last : place;
      const name = `${tried.name} answered 429 again and again with Retry-After: ${value}`;
      report.checked(name);
      const { observation, tries } = await refuse(
        lab,
        tried,
        errorAnswer(lab, 429, { "retry-after": value }),
        mostRefusals,
      );
      const evidence = exchangeEvidence("Requests", observation.exchanges, (exchange) =>
        tries.includes(exchange),
      );
      if (isHotLoop(tries))
        report.fail(
          `${name}: ${tries.length} tries within ${seconds(gapsOf(tries).reduce((sum, gap) => sum + gap, 0))}. Expected: a backoff between them.`,
          evidence,
        );
      const longestMs = Math.max(
        0,
        ...gapsOf(tries),
        ...observation.traces.waits.map(({ durationMs }) => durationMs),
      );
      if (longestMs > longestWaitMs)
        report.fail(
          `${name}: the connector waits ${Math.round(longestMs / 86_400_000)} days. Expected: a capped backoff, or a rate_limit error.`,
          evidence,
        );
      const endless = observation.traces.waits.find(
        ({ durationMs }) => !Number.isFinite(durationMs),
      );
      if (endless)
        report.fail(
          `${name}: a wait of ${endless.durationMs} ms was asked of the clock, which is none.`,
          evidence,
        );
    }
  },
});
