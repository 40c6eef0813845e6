import { exchangeEvidence, messageEvidence, textEvidence } from "../contract/evidence.ts";
import type { Lab, StreamFacts } from "../contract/lab.ts";
import type { Listing } from "../contract/learned.ts";
import type { Observation } from "../contract/observation.ts";
import { defineRule, type Reporter } from "../contract/rule.ts";
import { type CursorColumn, cursorColumn } from "../derive/rows/cursors.ts";
import { compareRows, outputRows, statesOf } from "../derive/rows/rows.ts";
import {
  incrementalStreams,
  noIncrementalStream,
  stateText,
  undisturbed,
} from "../derive/sweeps/reads.ts";
import { readParameters } from "../learn/parameters.ts";
import { maxPages, pagesRead, readForgotten, readLong } from "./state-12.long-reads.ts";

/**
 * A sync of 6,000 streams keeps all their states together: half of what document stores take for
 * one document (16 MiB).
 */
const streamCount = 6_000;
const maxStatesBytes = 8 * 1024 * 1024;
const maxRows = 10_000;

export default defineRule({
  id: "STATE-12",
  level: "MUST",
  profile: "resumable",
  since: "0.1.0",
  title:
    "States are small, plain JSON without secrets, come often enough, and an expired one asks for a new beginning.",
  why: "Long reads that are cut off start all over; states that grow stop the sync one day; an expired position that looks like “no changes” freezes the data for ever.",
  fix: "Keep positions in the state, not rows; yield a checkpoint every few pages; turn the provider's 410 into a state error (SYNC_STATE_EXPIRED).",
  good: 'errors: [{ status: 410, code: "SYNC_STATE_EXPIRED" }]',
  bad: "if (response.status === 410) return; // nothing new",
  notApplicable: noIncrementalStream,
  async run(lab, report) {
    for (const stream of incrementalStreams(lab)) {
      const whole = await undisturbed(lab, stream);
      lookAtStates(lab, report, stream, whole);
      const column = await cursorColumn(lab, stream);
      if (column && column.listing.paging.style !== "single")
        await lookAtLongRead(lab, report, column);
      await lookAtExpiry(lab, report, stream, whole);
    }
  },
});

function lookAtStates(
  lab: Lab,
  report: Reporter,
  stream: StreamFacts,
  observation: Observation,
): void {
  const states = statesOf(observation, stream.label);
  if (states.length > 0) report.checked(`${stream.label}: its states`);
  for (const { index, state } of states) {
    const text = JSON.stringify(state);
    const line = observation.messages[index]?.line ?? "";
    const inexact = inexactNumbers(line);
    if (inexact.length > 0)
      report.fail(
        `${stream.label}: the state of message ${index + 1} holds ${inexact[0]}, which most readers of JSON round. Write such numbers as text.`,
        messageEvidence("The read", observation, [index]),
      );
    if (!text.isWellFormed() || /\\ud[89a-f][0-9a-f]{2}/i.test(text))
      report.fail(
        `${stream.label}: the state of message ${index + 1} holds half a character (a lone surrogate), which is no valid text.`,
        messageEvidence("The read", observation, [index]),
      );
    const canary = lab.canaries.find(({ value }) => text.includes(value));
    if (canary)
      report.fail(
        `${stream.label}: the state of message ${index + 1} holds a secret (${canary.name}). States are kept in clear.`,
        messageEvidence("The read", observation, [index]),
      );
  }
  const largest = states.reduce(
    (most, { state }) => Math.max(most, Buffer.byteLength(JSON.stringify(state))),
    0,
  );
  const mayHave = Math.floor(maxStatesBytes / streamCount);
  if (largest <= mayHave) return;
  const found = states.find(({ state }) => Buffer.byteLength(JSON.stringify(state)) === largest);
  report.fail(
    `${stream.label}: the state of message ${(found?.index ?? 0) + 1}, after ${outputRows(observation.messages, stream).length} rows, has ${largest} bytes; a state may have ${mayHave}, so that those of ${streamCount} streams fit into ${maxStatesBytes / 2 ** 20} MiB. Keep positions in it, not rows.`,
    textEvidence("The state", JSON.stringify(found?.state)),
  );
}

/**
 * Whole numbers beyond 2^53 and numbers with more digits than a double holds, in the state of this
 * line.
 */
function inexactNumbers(line: string): string[] {
  const found: string[] = [];
  JSON.parse(line, (_key, value, context?: { source?: string }) => {
    if (typeof value !== "number" || context?.source === undefined) return value;
    const digits = context.source
      .replace(/[-.]/g, "")
      .replace(/e.*$/i, "")
      .replace(/^0+|0+$/g, "");
    if (digits.length > 16 || (Number.isInteger(value) && !Number.isSafeInteger(value)))
      found.push(context.source);
    return value;
  });
  return found;
}

async function lookAtLongRead(lab: Lab, report: Reporter, column: CursorColumn): Promise<void> {
  const { stream, listing } = column;
  const long = await readLong(lab, column, false);
  if (!long)
    return report.untried(`${stream.label}: a read of ${pagesRead} pages does not come to its end`);
  report.checked(`${stream.label}: a read of ${pagesRead} pages`);
  lookAtStates(lab, report, stream, long.whole);
  if (longestGap(long.whole, column).pages <= maxPages) return;
  // Checkpoints by number of rows show only where the pages are large.
  const { whole: wide } = (await readLong(lab, column, true)) ?? long;
  const { pages, rows, windows } = longestGap(wide, column);
  if (pages <= maxPages) return;
  if (listing.filter?.upper && windows === 1)
    return report.untried(
      `${stream.label} is read by windows of time, and how many rows a customer has in one is not recorded`,
    );
  report.fail(
    `${stream.label}: a read of ${pagesRead} pages writes no state for ${pages} pages (${rows} rows). At least one is expected every ${maxPages} pages or ${maxRows} rows.`,
    messageEvidence(
      "Its states",
      wide,
      statesOf(wide, stream.label)
        .map(({ index }) => index)
        .slice(0, 3),
    ),
  );
}

interface Gap {
  readonly pages: number;
  readonly rows: number;
  /** Windows of time that were asked for; 1 where the listing knows none. */
  readonly windows: number;
}

/** The most requests between two states, and the rows and windows of time with them. */
function longestGap(observation: Observation, { stream, listing }: CursorColumn): Gap {
  const lowerBounds = observation.exchanges.map(({ request: { url, body } }) =>
    readParameters(url, body).get(lowerKey(listing)),
  );
  let before = { index: 0, requestCount: 0 };
  let longest: Gap = { pages: 0, rows: 0, windows: 1 };
  for (const { index } of statesOf(observation, stream.label)) {
    const requestCount = observation.messages[index]?.requestCount ?? 0;
    const pages = requestCount - before.requestCount;
    if (pages > longest.pages)
      longest = {
        pages,
        rows: outputRows(observation.messages.slice(before.index, index), stream).length,
        windows: new Set(lowerBounds.slice(before.requestCount, requestCount)).size,
      };
    before = { index, requestCount };
  }
  return longest;
}

const lowerKey = ({ filter }: Listing) =>
  filter ? `${filter.isInBody ? "/" : "?"}${filter.parameter}` : "";

async function lookAtExpiry(
  lab: Lab,
  report: Reporter,
  stream: StreamFacts,
  whole: Observation,
): Promise<void> {
  for (const { state, token, observation } of await readForgotten(lab, stream, 2)) {
    report.checked(`${stream.label}: the provider answers 410 to ${token}`);
    const { outcome } = observation;
    if (outcome.failures.some(({ classes }) => classes.includes("state"))) continue;
    const { missing } = compareRows(
      outputRows(whole.messages, stream),
      outputRows(observation.messages, stream),
    );
    if (outcome.status === "succeeded" && missing.length === 0) continue;
    const said =
      outcome.status === "succeeded"
        ? "succeeds, as if nothing had changed"
        : `${outcome.status} with "${outcome.failures[0]?.message ?? ""}", of class ${outcome.failures[0]?.classes.join(" or ") ?? "none"}`;
    report.fail(
      `${stream.label}: the provider no longer knows the position in the state ${stateText(state)} (410), and the read ${said}. A state error is expected, so that the stream is begun anew.`,
      exchangeEvidence("Requests", observation.exchanges, ({ answer }) => answer?.status === 410),
      messageEvidence("The read", observation, []),
    );
  }
}
