import { setTimeout } from "node:timers/promises";
import { exchangeEvidence, messageEvidence } from "../contract/evidence.ts";
import type { Lab } from "../contract/lab.ts";
import type { Observation } from "../contract/observation.ts";
import { defineRule, type Reporter } from "../contract/rule.ts";
import {
  isPaged,
  largestPage,
  manyRows,
  readLarge,
  repeatedRows,
  reportNoListing,
  type StreamListing,
  streamListings,
} from "../derive/rows/large.ts";
import { compareRows, describeDifference, outputRows, statesOf } from "../derive/rows/rows.ts";
import { cancelDeadlineMs } from "../derive/sweeps/cancels.ts";
import {
  finalState,
  readFrom,
  resumableStreams,
  stateText,
  undisturbed,
} from "../derive/sweeps/reads.ts";

const sampledStreams = 3;
const sampledPoints = 6;
/** Pages of one row: most of them are still to come when the run is cancelled. */
const pageCount = 14;
/** Requests that may have been on their way, where nothing is declared. */
const undeclaredConcurrency = 4;
const cancelledMessage = 4;
/** Docker brings a signal into a container within the time of a few answers; ms of real time. */
const signalMs = 400;
/** A page that no buffer between connector and consumer holds as a whole. */
const largePage = 8_000;

export default defineRule({
  id: "CANCEL-03",
  level: "MUST",
  profile: "resilient",
  since: "0.1.0",
  title:
    "After a cancel come no more requests and no more rows than were on their way; the last state can be resumed from.",
  why: "A sync that goes on after Cancel fills the destination with what nobody wants any more, and a state that ran ahead loses rows when the sync is started again.",
  fix: "Look at the signal before each request and each row. Write no state in a handler of the cancel that covers rows which have not been written.",
  good: "for (const row of page.rows) {\n  signal.throwIfAborted();\n  await write(row);\n}",
  bad: "for (const row of page.rows) await write(row); // 10,000 rows after the cancel",
  notApplicable: (lab) =>
    lab.can("cancel") ? undefined : "runs of this target cannot be cancelled",
  async run(lab, report) {
    const listings = await streamListings(lab);
    for (const one of lab.sample(listings.filter(isPaged), sampledStreams))
      await requestsAfter(lab, one, report);
    if (lab.can("backpressure"))
      for (const one of lab.sample(listings, sampledStreams)) await rowsAfter(lab, one, report);
    for (const stream of lab.sample(
      lab.streams.filter(({ recording }) => recording),
      sampledStreams,
    ))
      await stateAfter(lab, stream, report);
    if (listings.length === 0 && lab.egress === "http") await reportNoListing(lab, report);
  },
});

/** Cancelled in the middle of many small pages. */
async function requestsAfter(lab: Lab, one: StreamListing, report: Reporter): Promise<void> {
  const egress = lab.manifest?.egress;
  const most = (egress?.kind === "http" ? egress.concurrency : undefined) ?? undeclaredConcurrency;
  const large = { rows: repeatedRows(one.listing, pageCount), pageSize: 1 };
  let isCancelled = false;
  const seen = await readLarge(lab, one, large, {
    cancel: { at: "message", count: cancelledMessage },
    onMessage(_, count) {
      isCancelled ||= count >= cancelledMessage;
    },
    async onRequest() {
      if (isCancelled && lab.target.kind === "container") await setTimeout(signalMs);
    },
    deadlineMs: cancelDeadlineMs,
  });
  const { cancelledAt, exchanges } = seen;
  if (!cancelledAt || exchanges.length <= 1) return;
  const name = `${one.stream.label}, cancelled after ${cancelledAt.messageCount} messages of a read of ${pageCount} pages`;
  report.checked(`${name}: requests`);
  const later = exchanges.length - cancelledAt.requestCount;
  if (later > most)
    report.fail(
      `${name}: ${later} more requests were sent after the cancel. Expected: none but those that were on their way (${most} at most).`,
      exchangeEvidence(
        "Requests",
        exchanges,
        ({ request }) => request.index >= cancelledAt.requestCount,
      ),
      messageEvidence("Messages", seen, [cancelledAt.messageCount - 1]),
    );
}

/** Cancelled at the first row of a large page. */
async function rowsAfter(lab: Lab, one: StreamListing, report: Reporter): Promise<void> {
  const size = largestPage(lab, one, largePage);
  if (size < largePage) return;
  const first = one.whole.messages.findIndex(({ message }) => message.type === "RECORD");
  const seen = await readLarge(
    lab,
    one,
    { rows: manyRows(one, size), pageSize: size },
    { cancel: { at: "message", count: first + 1 }, isBrief: true, deadlineMs: cancelDeadlineMs },
  );
  const { cancelledAt, recordCount = 0 } = seen;
  if (!cancelledAt) return;
  const name = `${one.stream.label}, cancelled at the first row of a page of ${size}`;
  report.checked(`${name}: rows`);
  if (recordCount > size / 2)
    report.fail(
      `${name}: ${recordCount - 1} more rows were written after the cancel. Expected: none but those that were on their way.`,
      messageEvidence("Messages besides the rows", seen, []),
    );
}

/**
 * Cancelled after messages of the undisturbed read; what it says of its end, and what comes when it
 * is resumed.
 */
async function stateAfter(
  lab: Lab,
  stream: StreamListing["stream"],
  report: Reporter,
): Promise<void> {
  const whole = await undisturbed(lab, stream);
  const isResumable = resumableStreams(lab).includes(stream);
  const expected = outputRows(whole.messages, stream);
  for (const count of lab.sample([...whole.messages.keys()].slice(1), sampledPoints)) {
    const name = `${stream.label}, cancelled after message ${count}`;
    const seen = await readFrom(lab, stream, undefined, {
      cancel: { at: "message", count },
      deadlineMs: cancelDeadlineMs,
    });
    if (!seen.cancelledAt) continue;
    report.checked(name);
    lookForFalseEnd(
      name,
      seen,
      compareRows(expected, outputRows(seen.messages, stream)).missing.length,
      report,
    );
    const state = finalState(seen, stream);
    if (!isResumable) continue;
    const resumed = await readFrom(lab, stream, state);
    const covered = outputRows(
      seen.messages.slice(0, statesOf(seen, stream.label).at(-1)?.index ?? 0),
      stream,
    );
    const { missing, changed } = compareRows(expected, [
      ...covered,
      ...outputRows(resumed.messages, stream),
    ]);
    if (missing.length + changed.length > 0)
      report.fail(
        `${name} and resumed from its last state, ${stateText(state)}, ends with ${describeDifference({ missing, changed, extra: [] })}. Expected: every row in one of the two runs.`,
        messageEvidence("Until the cancel and after it", seen, [count - 1]),
        messageEvidence("Resumed", resumed, []),
        exchangeEvidence("Requests of the resumed read", resumed.exchanges),
      );
  }
}

function lookForFalseEnd(
  name: string,
  seen: Observation,
  missingCount: number,
  report: Reporter,
): void {
  const complete = seen.messages.findIndex(
    ({ message }) => message.type === "TRACE" && message.trace.stream_status?.status === "COMPLETE",
  );
  if (complete >= 0 && missingCount > 0)
    report.fail(
      `${name}, says that the stream is COMPLETE although ${missingCount} of its rows were not written. Expected: INCOMPLETE.`,
      messageEvidence("Messages", seen, [complete]),
    );
}
