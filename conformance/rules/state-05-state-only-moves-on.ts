import { messageEvidence } from "../contract/evidence.ts";
import type { StreamFacts } from "../contract/lab.ts";
import type { ProviderChanges } from "../contract/learned.ts";
import type { Observation } from "../contract/observation.ts";
import { defineRule } from "../contract/rule.ts";
import { cursorColumn } from "../derive/rows/cursors.ts";
import { reportsSkip } from "../derive/rows/losses.ts";
import {
  compareRows,
  describeDifference,
  type OutputRow,
  outputRows,
} from "../derive/rows/rows.ts";
import { missingText } from "../derive/sweeps/pages.ts";
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
import { regressions } from "../derive/sweeps/states.ts";
import { type Arrival, arrivals, describeArrivals } from "./state-05.arrivals.ts";
import { undatedInFull } from "./state-05.full-refreshes.ts";
import { newRowCount, newsClockShiftMs, withNews, withOrdinary } from "./state-05.odd-rows.ts";

export default defineRule({
  id: "STATE-05",
  level: "MUST",
  profile: "resumable",
  since: "0.1.0",
  title:
    "Late, older, undated and unknown rows never move the state back, and none of them hides a row.",
  why: "A state that moves back makes every sync read the same rows again; one that loses its value starts all over. And one odd row must not end a page, and hide the rest of it.",
  fix: "Take the later of the saved and the seen cursor, compare times as times (offsets differ), and let rows without one move nothing, and end nothing.",
  good: "newest = Date.parse(row.updated_at) > Date.parse(newest) ? row.updated_at : newest;",
  bad: "newest = rows.at(-1).updated_at;",
  async notApplicable(lab) {
    if (lab.database)
      return "the kit brings no late rows into a database; STATE-03 and STATE-07 try what it saves";
    const columns = await Promise.all(
      incrementalStreams(lab).map((stream) => cursorColumn(lab, stream)),
    );
    return (
      noIncrementalStream(lab) ??
      (columns.some(Boolean)
        ? undefined
        : "no field of the provider's rows is seen to become a cursor")
    );
  },
  async run(lab, report) {
    for (const stream of incrementalStreams(lab)) {
      const column = await cursorColumn(lab, stream);
      if (!column) {
        report.untried(
          `${stream.label}: no field of the provider's rows is seen to become its cursor`,
        );
        continue;
      }
      const whole = await undisturbed(lab, stream);
      if (whole.outcome.status !== "succeeded") {
        report.untried(`${stream.label}: its read fails`);
        continue;
      }
      const all = outputRows(whole.messages, stream);
      const usualKeys = new Set(all.map(({ key }) => key));
      const cursors = all.map(({ data }) => data[column.cursorField]);
      const reached = finalState(whole, stream);
      const end = await resumedAtEnd(lab, stream);
      const canResume = end?.observation.outcome.status === "succeeded";
      if (!canResume) report.untried(`${stream.label}, from its final state: that read fails`);
      const readWith = (changes: ProviderChanges, isResumed: boolean, clockShiftMs = 0) =>
        readFrom(lab, stream, isResumed ? reached : undefined, {
          provider: lab.learned.provider(changes),
          clockShiftMs,
        });
      // Rows that a read from the beginning refuses must not be left out in silence later.
      const oddOnes = async (changes: ProviderChanges) => {
        const odd = await readWith(changes, false);
        const shown =
          odd.outcome.status === "succeeded" ? odd : await readWith(withOrdinary(column), false);
        return outputRows(shown.messages, stream).filter(({ key }) => !usualKeys.has(key));
      };
      const renewed = canResume
        ? await readWith(withNews(column), true, newsClockShiftMs)
        : undefined;
      const news = renewed && newRowsOf(renewed, end?.observation, stream);
      if (renewed && !news)
        report.untried(
          `${stream.label}, from its final state: odd rows among new ones, since it does not give those of the kit`,
        );
      const tried = arrivals(column, news !== undefined).filter(
        ({ isResumed }) => canResume || !isResumed,
      );
      const refused: Arrival[] = [];
      const keptBack: Arrival[] = [];
      const leftOut: Arrival[] = [];
      for (const arrival of tried) {
        const { name, odd, isResumed, others, fromTheBeginning } = arrival;
        if (refused.some(({ row }) => row === arrival.pageOf)) {
          leftOut.push(arrival);
          continue;
        }
        const shiftMs = isResumed && news ? newsClockShiftMs : 0;
        const observation = await readWith(odd.changes, isResumed, shiftMs);
        // A typed refusal of such a row moves nothing, and hides nothing.
        const isRefused = observation.outcome.status !== "succeeded";
        if (isRefused || !odd.isGiven()) {
          (isRefused ? refused : keptBack).push(arrival);
          continue;
        }
        const subject = `${stream.label}: ${name}`;
        report.checked(subject);
        const rows = outputRows(observation.messages, stream);
        const usual = !others ? [] : isResumed ? (news ?? []) : all;
        const oddRows = fromTheBeginning ? await oddOnes(fromTheBeginning) : [];
        const { missing } = compareRows([...usual, ...oddRows], rows);
        if (missing.length > 0 && !reportsSkip(observation, whole))
          report.fail(
            `${subject}: the read succeeds with ${describeDifference({ missing, changed: [], extra: [] })}.`,
            messageEvidence("The read", observation, []),
          );
        const now = finalState(observation, stream);
        const found =
          now === undefined
            ? []
            : regressions(isResumed ? reached : finalState(whole, stream), now, cursors);
        if (found.length > 0)
          report.fail(
            `${subject}: the state ${isResumed ? "moves back" : "falls short of what was read"}: ${found.join(", ")} (from ${stateText(reached)} to ${stateText(now)}).`,
            messageEvidence("The read", observation, []),
          );
      }
      for (const read of await undatedInFull(lab, column)) {
        if (typeof read === "string") {
          report.untried(`${stream.label}: ${read}`);
          continue;
        }
        report.checked(`${stream.label}: ${read.name}`);
        if (read.missing.length > 0)
          report.fail(
            `${stream.label}: ${read.name}: the read succeeds, but ${missingText(read.missing)}.`,
            messageEvidence("The read", read.observation, []),
          );
      }
      const notCompared = [
        [refused, "reads that are refused, and not compared"],
        [keptBack, "reads that are not given the odd row"],
        [leftOut, "reads that are left out, since one such row is refused"],
      ] as const;
      for (const [some, what] of notCompared)
        if (some.length > 0)
          report.untried(`${stream.label}: ${describeArrivals(some, tried, what)}`);
    }
  },
});

/**
 * The rows of a resumed read that has new ones; undefined where they do not come, each under a key
 * of its own.
 */
function newRowsOf(
  renewed: Observation,
  usual: Observation | undefined,
  stream: StreamFacts,
): readonly OutputRow[] | undefined {
  if (renewed.outcome.status !== "succeeded" || isBeyondRecordings(renewed)) return undefined;
  const rows = outputRows(renewed.messages, stream);
  const { extra } = compareRows(usual ? outputRows(usual.messages, stream) : [], rows);
  return extra.length === newRowCount ? rows : undefined;
}
