import { exchangeEvidence } from "../contract/evidence.ts";
import type { Lab } from "../contract/lab.ts";
import { defineRule } from "../contract/rule.ts";
import { earlyAfter, firstRequests, refuse, seconds } from "../derive/requests/rate-limits.ts";
import { errorAnswer } from "../derive/sweeps/faults.ts";

const askedMs = 41_000;

export default defineRule({
  id: "RETRY-02",
  level: "MUST",
  profile: "resilient",
  since: "0.1.0",
  title: "A Retry-After that is a date is honoured: no request is sent before it.",
  why: "The header has two forms (RFC 9110 section 10.2.3). Read as a number, a date is no wait at all, and the provider blocks the account.",
  fix: "When Retry-After is no number, parse it as a date and wait until then on the injected clock.",
  good: "const waitMs = /^\\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - clock.now();",
  bad: "const waitMs = parseInt(value) * 1000; // NaN for a date",
  notApplicable(lab: Lab) {
    if (lab.egress !== "http")
      return "its provider is a database, which says nothing of when to try again";
    return lab.can("clock") ? undefined : "waits of this target cannot be seen";
  },
  async run(lab, report) {
    for (const place of await firstRequests(lab)) {
      // The date has whole seconds.
      const untilMs = Math.ceil((place.exchange.atMs + askedMs) / 1_000) * 1_000;
      const date = new Date(untilMs).toUTCString();
      for (const status of [429, 503]) {
        const name = `${place.name} answered ${status} with Retry-After: ${date}`;
        report.checked(name);
        const { observation, tries } = await refuse(
          lab,
          place,
          errorAnswer(lab, status, { "retry-after": date }),
        );
        const early = earlyAfter(observation, place.at, untilMs);
        if (early)
          report.fail(
            `${name}; the next request came ${seconds(untilMs - early.atMs)} before that.`,
            exchangeEvidence(
              "Requests",
              observation.exchanges,
              (exchange) => exchange === tries[0] || exchange === early,
            ),
          );
      }
    }
  },
});
