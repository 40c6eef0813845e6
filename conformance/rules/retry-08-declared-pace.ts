import { exchangeEvidence, messageEvidence } from "../contract/evidence.ts";
import type { Lab } from "../contract/lab.ts";
import type { Exchange } from "../contract/network.ts";
import type { Observation } from "../contract/observation.ts";
import { defineRule, type Reporter } from "../contract/rule.ts";
import { firstRequests, gapsOf, refuse, seconds } from "../derive/requests/rate-limits.ts";
import { undisturbed } from "../derive/rows/losses.ts";
import { errorAnswer } from "../derive/sweeps/faults.ts";

/** The runtime's limit where a connector declares none. */
const runtimeConcurrency = 4;
/**
 * Where nothing is declared and nothing enforces it: more at once than providers expect of one
 * client.
 */
const undeclaredConcurrency = 10;
/**
 * How long each answer is held back, so that requests that are under way at once meet; ms of real
 * time.
 */
const heldMs = 8;
const sampledReads = 3;
/**
 * Rows of the first listing, one a page: what asks for all of them at once does so for more than
 * were recorded.
 */
const manyRows = 16;
/** Waits longer than this are reported to the user. */
const silentMs = 30_000;
const askedSeconds = 45;

export default defineRule({
  id: "RETRY-08",
  level: "SHOULD",
  profile: "resilient",
  since: "0.1.0",
  title:
    "Requests keep to the declared rate and number at once, and a wait of more than 30 seconds is reported, with its end.",
  why: "A burst above the limit gets the account blocked. A sync that stands still and says nothing looks hung, and is killed by its user.",
  fix: "Send requests through one limiter. Before a long wait, log until when it lasts.",
  good: 'log("Waiting for the rate limit until " + new Date(clock.now() + waitMs).toISOString());',
  bad: "await Promise.all(ids.map(fetchOne)); // 5,000 requests at once",
  notApplicable(lab: Lab) {
    if (lab.egress !== "http")
      return "its provider is a database, which says nothing of when to try again";
    return lab.can("clock") ? undefined : "waits of this target cannot be seen";
  },
  async run(lab, report) {
    await concurrency(lab, report);
    await rate(lab, report);
    await tryLongWait(lab, report);
  },
});

async function concurrency(lab: Lab, report: Reporter): Promise<void> {
  const egress = lab.manifest?.egress;
  if (egress && egress.kind !== "http") return;
  const most = egress ? (egress.concurrency ?? runtimeConcurrency) : undeclaredConcurrency;
  const reads = (await lab.golden()).filter(
    ({ recording }) => recording.outcome.status === "succeeded",
  );
  for (const { recording } of lab.sample(reads, sampledReads)) {
    const name = `${recording.name}, requests at once`;
    report.checked(name);
    const open = { count: 0, most: 0 };
    const [first] = (await undisturbed(lab, recording)).exchanges;
    const listing = first && lab.learned.listingOf(first.request);
    const provider = lab.learned.provider({
      rows: (one, rows) =>
        one === listing && rows.length > 0
          ? Array.from(
              { length: Math.max(manyRows, rows.length) },
              (_, index) => rows[index % rows.length] ?? {},
            )
          : rows,
      pageSize: (one) => (one === listing ? 1 : undefined),
    });
    const observation = await lab.run(lab.commandOf(recording), {
      provider,
      async onRequest() {
        open.most = Math.max(open.most, ++open.count);
        await new Promise((resolve) => setTimeout(resolve, heldMs));
        open.count--;
      },
    });
    if (open.most > most)
      report.fail(
        `${name}: ${open.most} were under way together. Expected: at most ${most}${egress ? ", as declared" : ", where nothing else is declared"}.`,
        exchangeEvidence("Requests", observation.exchanges),
      );
  }
}

/** Over all runs: whatever was retried counts too. */
async function rate(lab: Lab, report: Reporter): Promise<void> {
  const egress = lab.manifest?.egress;
  if (egress?.kind !== "http" || !egress.rateLimit) return;
  const { requests, perMs } = egress.rateLimit;
  for (const { name, observation } of await lab.everyRun()) {
    if (observation.exchanges.length === 0) continue;
    report.checked(`${name}, requests in ${seconds(perMs)}`);
    const crowd = crowdIn(observation.exchanges, requests, perMs);
    if (crowd.length > 0)
      report.fail(
        `${name}: ${crowd.length} requests within ${seconds(perMs)}. Declared: at most ${requests}.`,
        exchangeEvidence("Requests", observation.exchanges, (exchange) => crowd.includes(exchange)),
      );
  }
}

/** The first requests that are too many for one window. */
function crowdIn(exchanges: readonly Exchange[], most: number, perMs: number): readonly Exchange[] {
  for (const [index, { atMs }] of exchanges.entries()) {
    const window = exchanges.slice(index).filter((other) => other.atMs - atMs < perMs);
    if (window.length > most) return window;
  }
  return [];
}

async function tryLongWait(lab: Lab, report: Reporter): Promise<void> {
  for (const place of await firstRequests(lab, 3)) {
    const name = `${place.name} answered 429 with Retry-After: ${askedSeconds}`;
    const { observation, tries } = await refuse(
      lab,
      place,
      errorAnswer(lab, 429, { "retry-after": String(askedSeconds) }),
    );
    const [gapMs = 0] = gapsOf(tries);
    if (gapMs <= silentMs) continue;
    report.checked(name);
    if (!reportsWait(observation, tries))
      report.fail(
        `${name}: the connector waits ${seconds(gapMs)} and says nothing. Expected: before the wait, a LOG message that says until when.`,
        messageEvidence("Messages", observation, []),
        exchangeEvidence("Requests", observation.exchanges, (exchange) => tries.includes(exchange)),
      );
  }
}

const waitWord = /wait|sleep|paus|retry|try again|resum|back.?off|limit|until/i;

/** A message between the refusal and the next try that speaks of a wait and of a time or length. */
function reportsWait({ messages }: Observation, [refused, next]: readonly Exchange[]): boolean {
  const from = refused?.request.index ?? 0;
  return messages.some(({ message, requestCount }) => {
    if (requestCount <= from || requestCount > (next?.request.index ?? 0)) return false;
    const text =
      message.type === "LOG" && !/DEBUG|TRACE/i.test(message.log.level)
        ? message.log.message
        : message.type === "TRACE"
          ? JSON.stringify(message.trace)
          : "";
    return waitWord.test(text) && /\d/.test(text);
  });
}
