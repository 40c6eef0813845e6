import { canonicalize } from "svc-connectors/host";
import { exchangeEvidence, messageEvidence } from "../contract/evidence.ts";
import type { Lab, StreamFacts } from "../contract/lab.ts";
import { defineRule, type Reporter } from "../contract/rule.ts";
import { outputRows } from "../derive/rows/rows.ts";
import { isPageToken, missingText } from "../derive/sweeps/pages.ts";
import {
  finalState,
  incrementalStreams,
  isBeyondRecordings,
  noIncrementalStream,
  readFrom,
  resumedAtEnd,
  stateText,
  undisturbed,
} from "../derive/sweeps/reads.ts";
import { farFuture, regressions, timedLeaves } from "../derive/sweeps/states.ts";
import { type FutureRows, futureRowsOf, readAfterFutureRow } from "./state-09.future-row.ts";

export default defineRule({
  id: "STATE-09",
  level: "MUST",
  profile: "resumable",
  since: "0.1.0",
  title:
    "A cursor in the far future gives no rows, no crash, and stays where it is; a row or a parent of the far future moves none there.",
  why: "One row with a wrong date moves the cursor ahead of time, and nothing that changes is read any more, for years. Once it stands there, what comes back must be nothing, not everything, and not a crash.",
  fix: "Let rows move the cursor no further than the time at which the read began. Compare with the saved cursor wherever rows are chosen, and write the later of the saved and the seen one.",
  good: "const since = later(saved.since, earlier(newest, bound));",
  bad: "const since = newest ?? new Date(ctx.clock.now()).toISOString();",
  async notApplicable(lab) {
    const none = noIncrementalStream(lab);
    if (none) return none;
    const states = await Promise.all(
      incrementalStreams(lab).map((stream) => futureOf(lab, stream)),
    );
    return states.some((state) => state !== undefined)
      ? undefined
      : "no state says a time or a number";
  },
  async run(lab, report) {
    for (const stream of incrementalStreams(lab)) {
      for (const future of await futureRowsOf(lab, stream))
        await tryFutureRow(lab, report, stream, future);
      const state = await futureOf(lab, stream);
      if (state === undefined) {
        report.untried(
          `${stream.label}: a read from a state of the far future: its state says no time or number, or is a token of a page, or a read from it fails`,
        );
        continue;
      }
      const subject = `${stream.label} from ${stateText(state)}`;
      const observation = await readFrom(lab, stream, state);
      const { outcome, exchanges } = observation;
      const evidence = [
        messageEvidence("The read", observation, []),
        exchangeEvidence("Its requests", exchanges),
      ];
      const isTyped =
        outcome.status === "failed" &&
        outcome.failures.some(({ classes }) => classes.includes("state"));
      if (outcome.status !== "succeeded" && !isTyped && isBeyondRecordings(observation)) {
        report.untried(`${subject}: it asks for what was not recorded`);
        continue;
      }
      report.checked(subject);
      if (outcome.status !== "succeeded") {
        if (!isTyped)
          report.fail(
            `${stream.label}: a read from ${stateText(state)} ${outcome.status}: ${outcome.failures[0]?.message ?? "it gave no reason"}`,
            ...evidence,
          );
        continue;
      }
      const rows = outputRows(observation.messages, stream);
      if (rows.length > 0)
        report.fail(
          `${stream.label}: a read from ${stateText(state)} gives ${rows.length === 1 ? "1 row" : `${rows.length} rows`}, though none is that new (${rows
            .slice(0, 3)
            .map(({ key }) => key)
            .join(", ")}).`,
          ...evidence,
        );
      const written = finalState(observation, stream);
      const found =
        written === undefined
          ? []
          : regressions(state, written, cursorsOf(await undisturbed(lab, stream), stream));
      if (found.length > 0 && (await keepsItsState(lab, stream)))
        report.fail(
          `${stream.label}: a read from ${stateText(state)} moves the state back: ${found.join(", ")}.`,
          ...evidence,
        );
    }
  },
});

async function tryFutureRow(
  lab: Lab,
  report: Reporter,
  stream: StreamFacts,
  future: FutureRows,
): Promise<void> {
  const dated = await readAfterFutureRow(lab, stream, future);
  if (!dated)
    return report.untried(
      `${stream.label}: ${future === "one row" ? "a row" : "parents"} of the far future, which needs a recording that resumes it, two rows with times, and reads of other rows that succeed`,
    );
  report.checked(dated.name);
  if (dated.missing.length > 0)
    report.fail(
      `${dated.name}: that read ends with the state ${stateText(dated.state)}, and in the next one, from it, ${missingText(dated.missing)}.`,
      messageEvidence(`The read with ${future} of the future`, dated.first, []),
      exchangeEvidence("Requests of the next read", dated.next.exchanges),
    );
}

/** True when a read that finds nothing new keeps the cursor at all: STATE-07 reports when not. */
async function keepsItsState(lab: Lab, stream: StreamFacts): Promise<boolean> {
  const state = (await resumedAtEnd(lab, stream))?.state;
  const empty = await readFrom(lab, stream, state, {
    provider: lab.learned.provider({ rows: () => [] }),
  });
  return canonicalize(finalState(empty, stream) ?? null) === canonicalize(state ?? null);
}

const cursorsOf = ({ messages }: Awaited<ReturnType<typeof undisturbed>>, stream: StreamFacts) =>
  outputRows(messages, stream).map(({ data }) => data[stream.cursorField ?? ""]);

/**
 * The final state a hundred years on; undefined where it says no time, or where not even the intact
 * one can be read from.
 */
async function futureOf(lab: Lab, stream: StreamFacts) {
  const end = await resumedAtEnd(lab, stream);
  if (!end || end.observation.outcome.status !== "succeeded") return undefined;
  const whole = await undisturbed(lab, stream);
  if (isPageToken(end.state, whole, lab.learned.listings)) return undefined;
  const cursors = cursorsOf(whole, stream);
  return timedLeaves(end.state, cursors).length === 0 ? undefined : farFuture(end.state, cursors);
}
