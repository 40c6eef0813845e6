import { messageEvidence } from "../contract/evidence.ts";
import type { Changes, ProviderRow } from "../contract/learned.ts";
import { defineRule } from "../contract/rule.ts";
import {
  asksForOrder,
  type CursorColumn,
  changeRows,
  cursorColumn,
  cursorOf,
  directionOf,
  underKey,
  withCursor,
} from "../derive/rows/cursors.ts";
import { latest, momentOf, textOf, writeLike } from "../derive/rows/moments.ts";
import { withOtherOffsets } from "../derive/rows/offsets.ts";
import { outputRows } from "../derive/rows/rows.ts";
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

export default defineRule({
  id: "STATE-05",
  level: "MUST",
  profile: "resumable",
  since: "0.1.0",
  title: "Late, older and undated rows never move the state back.",
  why: "A state that moves back makes every sync read the same rows again; one that loses its value starts all over.",
  fix: "Take the later of the saved and the seen cursor, compare times as times (offsets differ), and leave out rows without one.",
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

interface Arrival {
  readonly name: string;
  readonly changes: Changes;
  /** Read from the final state, else from the beginning. */
  readonly isResumed: boolean;
}

function arrivals(column: CursorColumn): Arrival[] {
  const { rows } = column.listing;
  const newest = latest(rows.map((row) => cursorOf(row, column)));
  const oldest = rows
    .map((row) => cursorOf(row, column))
    .findLast((value) => momentOf(value) !== undefined);
  const older = writeLike(
    oldest,
    (momentOf(oldest)?.value ?? 0) - (momentOf(oldest)?.kind === "time" ? 86_400_000 : 1),
  );
  const strange = (value: unknown, isLast: boolean): Changes => withStranger(column, value, isLast);
  // Where the connector asked for an order, the provider keeps it.
  const isOlderLast = !asksForOrder(column) || directionOf(column) === "descending";
  const both = [false, true].flatMap((isResumed) => {
    const when = isResumed ? ", in a read from the final state" : "";
    return [
      {
        name: `an older row comes ${isOlderLast ? "last" : "first"}${when}`,
        changes: strange(older, isOlderLast),
        isResumed,
      },
      {
        name: `a row without a cursor value comes last${when}`,
        changes: strange(null, true),
        isResumed,
      },
      {
        name: `a row without a cursor value comes first${when}`,
        changes: strange(null, false),
        isResumed,
      },
    ];
  });
  const offsets = withOtherOffsets(column, newest);
  return [
    ...both,
    ...(offsets
      ? [
          {
            name: "the same times are written with other offsets",
            changes: offsets,
            isResumed: false,
          },
        ]
      : []),
  ];
}

/**
 * A time that no row has, for the provider's filter to let through; in the answer it becomes the
 * value.
 */
const markMs = Date.UTC(2091, 1, 3, 4, 5, 6, 789);

/** One more row with that cursor value, which no filter of the provider keeps back. */
function withStranger(column: CursorColumn, value: unknown, isLast: boolean): Changes {
  const newest = latest(column.listing.rows.map((row) => cursorOf(row, column)));
  const isTime = momentOf(newest)?.kind === "time";
  const mark = writeLike(newest, isTime ? markMs : 8_007_199_254_740_000);
  const markText = JSON.stringify(mark);
  return {
    ...changeRows(column, (rows) => {
      const model = rows.at(-1) ?? column.listing.rows.at(-1);
      const stranger = model && (underKey(model, column, 7) ?? model);
      const marked = stranger && [withCursor(stranger as ProviderRow, column, mark)];
      return isLast ? [...rows, ...(marked ?? [])] : [...(marked ?? []), ...rows];
    }),
    answer: (answer, listing) =>
      column.listings.includes(listing)
        ? {
            ...answer,
            body: Buffer.from(
              answer.body
                .toString("utf8")
                .replaceAll(markText, textOf(value) === undefined ? "null" : JSON.stringify(value)),
            ),
          }
        : answer,
  };
}
