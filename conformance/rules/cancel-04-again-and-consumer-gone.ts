import { setTimeout } from "node:timers/promises";
import { exchangeEvidence, messageEvidence, textEvidence } from "../contract/evidence.ts";
import type { Lab } from "../contract/lab.ts";
import type { Observation } from "../contract/observation.ts";
import { defineRule, type Reporter } from "../contract/rule.ts";
import {
  isPaged,
  readLarge,
  repeatedRows,
  type StreamListing,
  streamListings,
} from "../derive/rows/large.ts";
import {
  type CancelledWork,
  cancelDeadlineMs,
  lateMs,
  requestCountOf,
  workToCancel,
} from "../derive/sweeps/cancels.ts";

const sampledWorks = 4;
const sampledStreams = 3;
/** As often as an impatient user, or a supervisor, says it. */
const times = 3;
/** Pages of one row: some of them are still to come when the consumer goes. */
const pageCount = 12;
/**
 * A line comes within that time of the requests that make it: from another process, from here; ms.
 */
const nextLineMs = 400;
const nextLineHereMs = 150;
/** Requests that may have been on their way when the consumer went. */
const onTheirWay = 4;

export default defineRule({
  id: "CANCEL-04",
  level: "MUST",
  profile: "resilient",
  since: "0.1.0",
  title:
    "To cancel again changes nothing, and a consumer that goes away ends the run as a cancel does.",
  why: "Supervisors send their signal more than once. A second one that throws turns a clean end into a crash; a request that nobody waits for any more goes on in the background.",
  fix: "Let the second cancel find nothing to do ({ once: true }), and give up what was fetched ahead in `finally`: the end of a for-await calls it.",
  good: "try {\n  for await (const page of pages) yield page.rows;\n} finally {\n  ahead.abort();\n}",
  bad: "signal.addEventListener('abort', () => { if (stopped) throw new Error('already stopped'); stopped = true; });",
  notApplicable: (lab) =>
    lab.can("cancel") ? undefined : "runs of this target cannot be cancelled",
  async run(lab, report) {
    for (const work of lab.sample(await workToCancel(lab), sampledWorks))
      await cancelAgain(lab, work, report);
    for (const one of lab.sample((await streamListings(lab)).filter(isPaged), sampledStreams))
      await goAway(lab, one, report);
  },
});

/** In the middle of the work: when its last request has arrived, and after its first message. */
async function cancelAgain(
  lab: Lab,
  { name, command, whole }: CancelledWork,
  report: Reporter,
): Promise<void> {
  const moments = [
    { at: "request", index: requestCountOf(whole) - 1, times } as const,
    ...(command.verb === "read"
      ? [{ at: "message", count: Math.max(1, whole.messages.length - 2), times } as const]
      : []),
  ];
  for (const cancel of moments) {
    const where =
      cancel.at === "request" ? `at request ${cancel.index + 1}` : `after message ${cancel.count}`;
    const subject = `${name}, cancelled ${times} times ${where}`;
    const once = await lab.run(command, {
      cancel: { ...cancel, times: 1 },
      deadlineMs: cancelDeadlineMs,
    });
    const seen = await lab.run(command, { cancel, deadlineMs: cancelDeadlineMs });
    if (!seen.cancelledAt) continue;
    report.checked(subject);
    const evidence = [
      messageEvidence("Cancelled once", once, []),
      messageEvidence(`Cancelled ${times} times`, seen, []),
    ];
    for (const accident of newAccidents(seen, once))
      report.fail(
        `${subject}: ${accident}. Expected: as when it is cancelled once.`,
        textEvidence(
          "What happened outside of the run's own course",
          seen.traces.accidents.join("\n"),
        ),
        ...evidence,
      );
    if (crashText(seen) !== undefined && crashText(once) === undefined)
      report.fail(
        `${subject}: it crashed with "${crashText(seen)}". Expected: as when it is cancelled once.`,
        ...evidence,
      );
    if (isLate(seen) && !isLate(once))
      report.fail(
        `${subject}: it had not settled after ${lateMs / 1_000} s. Expected: as when it is cancelled once.`,
        ...evidence,
      );
  }
}

const newAccidents = (seen: Observation, before: Observation) =>
  seen.traces.accidents.filter((one) => !before.traces.accidents.includes(one));
const isLate = ({ outcome, traces }: Observation) =>
  outcome.status === "hung" || (traces.settledAfterMs ?? 0) > lateMs;

/**
 * The text that a program prints when an exception ends it, or an error that no cancel explains.
 */
function crashText({ traces, outcome }: Observation): string | undefined {
  const stack = /^(?:\w*Error|Traceback|Uncaught|panic|Exception)\b.*$/m.exec(
    traces.errorOutput,
  )?.[0];
  return (
    stack ??
    outcome.failures.find(({ classes }) => classes.length > 0 && !classes.includes("cancelled"))
      ?.message
  );
}

/**
 * The consumer takes some messages and none for a while, so that what is fetched ahead is under
 * way; then it is gone.
 */
async function goAway(lab: Lab, one: StreamListing, report: Reporter): Promise<void> {
  const stopAfter = one.whole.messages.findIndex(({ message }) => message.type === "RECORD") + 1;
  let isGoing = false;
  const lineMs = lab.can("inside") ? nextLineHereMs : nextLineMs;
  const seen = await readLarge(
    lab,
    one,
    { rows: repeatedRows(one.listing, pageCount), pageSize: 1 },
    {
      transport: "server",
      stopAfter,
      ...(lab.can("backpressure") ? { stallAfter: stopAfter } : {}),
      deadlineMs: cancelDeadlineMs,
      onUntaken() {
        isGoing = true;
      },
      // The second page mostly makes the next message; what is asked beyond it is on its way when
      // the consumer goes. Nested streams ask for more before that message: they get it, a bit
      // late.
      async onRequest({ index }) {
        if (index <= one.requestsBefore + 1) return;
        await setTimeout(lineMs);
        if (isGoing) await new Promise<never>(() => undefined);
      },
    },
  );
  // A connector that collects pages before the first row has nothing to write yet: MEM-02 reports
  // it.
  if (!seen.isStopped) return;
  // A loaded machine may have made it try a request again, and report so: the consumer went before
  // the first row then.
  if (seen.messages[stopAfter - 1]?.message.type !== "RECORD") return;
  const name = `${one.stream.label}, whose consumer is gone after message ${stopAfter}`;
  report.checked(name);
  const { openRequests = 0, accidents } = seen.traces;
  const evidence = [
    exchangeEvidence("Requests", seen.exchanges),
    messageEvidence("Messages", seen, []),
  ];
  const later = seen.stalledAt ? seen.exchanges.length - seen.stalledAt.requestCount : 0;
  if (seen.outcome.status === "hung")
    report.fail(
      `${name}, had not ended after ${cancelDeadlineMs / 1_000} s. Expected: it ends as if it were cancelled.`,
      ...evidence,
    );
  if (openRequests > 0)
    report.fail(
      `${name}, left ${openRequests === 1 ? "a request" : `${openRequests} requests`} running when it had ended. Expected: it is given up.`,
      ...evidence,
    );
  if (later > onTheirWay)
    report.fail(
      `${name}, sent ${later} more requests afterwards. Expected: none but those that were on their way.`,
      ...evidence,
    );
  for (const accident of accidents)
    report.fail(
      `${name}: ${accident}. Expected: a clean end.`,
      textEvidence("What happened outside of the run's own course", accidents.join("\n")),
      ...evidence,
    );
}
