import type { Lab } from "../contract/lab.ts";
import { defineRule } from "../contract/rule.ts";
import { exchangeEvidence } from "../evidence.ts";
import { firstRequests, rateLimited } from "../derive/rate-limits.ts";

const seconds = 37;

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
  notApplicable: (lab: Lab) => (lab.can("clock") ? undefined : "waits of this target cannot be seen"),
  async run(lab, look) {
    for (const { name, order, at } of await firstRequests(lab)) {
      look.at(name);
      const { observation, refused, next } = await rateLimited(lab, order, at, { "retry-after": String(seconds) });
      if (!refused || !next) continue;
      const waitedMs = next.atMs - refused.atMs;
      if (waitedMs < seconds * 1_000)
        look.fail(
          `${name} was answered 429 with Retry-After: ${seconds}; the next request came after ${waitedMs / 1_000} s.`,
          exchangeEvidence("Requests", observation.exchanges, (exchange) => exchange === refused || exchange === next),
        );
    }
  },
});
