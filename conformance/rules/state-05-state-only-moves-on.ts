import { messageEvidence } from "../contract/evidence.ts";
import { defineRule } from "../contract/rule.ts";
import { cursorColumn } from "../derive/rows/cursors.ts";
import { tellsOfSkip } from "../derive/rows/losses.ts";
import { compareRows, describeDifference, outputRows } from "../derive/rows/rows.ts";
import {
  finalState,
  incrementalStreams,
  noIncrementalStream,
  readFrom,
  resumedAtEnd,
  stateText,
  undisturbed,
} from "../derive/sweeps/reads.ts";
import { regressions } from "../derive/sweeps/states.ts";
import { arrivals } from "./state-05.odd-rows.ts";

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
      if (!column) continue;
      const whole = await undisturbed(lab, stream);
      const cursors = outputRows(whole.messages, stream).map(
        ({ data }) => data[column.cursorField],
      );
      const reached = finalState(whole, stream);
      const end = await resumedAtEnd(lab, stream);
      for (const { name, changes, isResumed } of arrivals(column)) {
        if (isResumed && end?.observation.outcome.status !== "succeeded") continue;
        const subject = `${stream.label}: ${name}`;
        report.checked(subject);
        const observation = await readFrom(lab, stream, isResumed ? reached : undefined, {
          provider: lab.learned.provider(changes),
        });
        // A typed refusal of such a row moves nothing.
        if (observation.outcome.status !== "succeeded") continue;
        const rows = outputRows(observation.messages, stream);
        const { missing } = compareRows(outputRows(whole.messages, stream), rows);
        if (!isResumed && missing.length > 0 && !tellsOfSkip(observation, whole))
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
    }
  },
});
