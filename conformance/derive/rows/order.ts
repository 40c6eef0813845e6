/**
 * Rows in other orders and with other cursor values than the recorded ones, and reads that are cut
 * off in the middle of them.
 */
import type { JsonValue } from "svc-connectors";
import type { Lab } from "../../contract/lab.ts";
import type { ProviderChanges, ProviderRow } from "../../contract/learned.ts";
import type { Observation } from "../../contract/observation.ts";
import { cutOff, finalState, incrementalStreams, readFrom } from "../sweeps/reads.ts";
import {
  type CursorColumn,
  changeRows,
  cursorColumn,
  cursorOf,
  directionOf,
  withCursor,
} from "./cursors.ts";
import { latest, momentOf, textOf, writeLike } from "./moments.ts";
import { compareRows, type Difference, outputRows, statesOf } from "./rows.ts";

/** Rows of one arrangement, for people and for the provider. */
export interface Arrangement {
  readonly name: string;
  readonly changes: ProviderChanges;
}

/** Rows per page that leave several pages of the recorded rows. */
const smallPage = 2;

const arrange = (
  column: CursorColumn,
  name: string,
  edit: (rows: readonly ProviderRow[]) => readonly ProviderRow[],
): Arrangement => ({
  name,
  changes: { ...changeRows(column, edit), pageSize: () => smallPage },
});

/**
 * The rows on both sides of every page border share a cursor value; all rows share one; and where
 * times are finer than a millisecond, neighbours differ by a microsecond only.
 */
export function tiedRows(column: CursorColumn): Arrangement[] {
  const same =
    (from: (at: number, rows: readonly ProviderRow[]) => number) =>
    (rows: readonly ProviderRow[]) =>
      rows.map((row, at) => withCursor(row, column, cursorOf(rows[from(at, rows)] ?? row, column)));
  const finest = column.listing.rows
    .map((row) => cursorOf(row, column))
    .find((value) => /\.\d{6,}/.test(textOf(value) ?? ""));
  const start = Math.floor(momentOf(finest)?.value ?? 0);
  // The digits that a millisecond leaves out round up as well as down.
  const close = (rows: readonly ProviderRow[]) =>
    rows.map((row, at) =>
      withCursor(
        row,
        column,
        writeLike(finest, start + Math.floor(at / 4) * 1_000 + 0.6 + (at % 4) / 1_000),
      ),
    );
  return [
    arrange(
      column,
      "rows on both sides of each page border share a cursor value",
      same((at) => (at > 0 && at % smallPage === 0 ? at - 1 : at)),
    ),
    arrange(
      column,
      "three rows each share a cursor value",
      same((at) => at - (at % 3)),
    ),
    arrange(
      column,
      "all rows share a cursor value",
      same(() => 0),
    ),
    ...(finest === undefined
      ? []
      : [arrange(column, "cursor values differ by microseconds", close)]),
  ];
}

/**
 * Rows in the order of their cursors, each with another value: what every incremental read must
 * manage.
 */
const orderedRows = (column: CursorColumn): Arrangement =>
  arrange(column, "the rows come in the order of their cursor values", (rows) => {
    const newest = latest(rows.map((row) => cursorOf(row, column)));
    const moment = momentOf(newest);
    const step = moment?.kind === "time" ? 3_600_000 : 1;
    const isDescending = directionOf(column) === "descending";
    return rows.map((row, at) =>
      withCursor(
        row,
        column,
        writeLike(newest, (moment?.value ?? 0) - (isDescending ? at : rows.length - 1 - at) * step),
      ),
    );
  });

/** The newest row first, the oldest last, and rows mixed by halves. */
export function unsortedRows(column: CursorColumn): Arrangement[] {
  return [
    arrange(column, "the newest row comes first", (rows) => toFront(rows, column)),
    arrange(column, "the rows come in reverse order", (rows) => rows.toReversed()),
    arrange(column, "every second row comes late", (rows) => [
      ...rows.filter((_, at) => at % 2 === 1),
      ...rows.filter((_, at) => at % 2 === 0),
    ]),
  ];
}

function toFront(rows: readonly ProviderRow[], column: CursorColumn): readonly ProviderRow[] {
  const newest = latest(rows.map((row) => cursorOf(row, column)));
  const at = rows.findLastIndex((row) => cursorOf(row, column) === newest);
  return at < 0 ? rows : [rows[at] as ProviderRow, ...rows.filter((_, index) => index !== at)];
}

/** Cut-off reads per arrangement of the rows. */
const sampledCuts = 3;

const isLossy = ({ difference }: CutRead) =>
  difference.missing.length + difference.changed.length > 0;

/**
 * Columns of the streams whose rows, in order, survive a read that is cut off: what other
 * arrangements lose then is their doing. Where even those are lost, STATE-01 reports it. Done once.
 */
export const comparableColumns = (lab: Lab): Promise<readonly CursorColumn[]> =>
  lab.once("columns whose rows can be rearranged", async () => {
    const found: CursorColumn[] = [];
    for (const stream of incrementalStreams(lab)) {
      const column = await cursorColumn(lab, stream);
      const reads = column && (await cutReads(lab, column, orderedRows(column), sampledCuts));
      if (column && reads && !reads.some(isLossy)) found.push(column);
    }
    return found;
  });

export const noComparableColumn =
  "no field of the provider's rows is seen to become a cursor, or rows in another order than recorded are not read as before";

/** The first cut-off read of the arrangement that loses rows; a text: why none could be tried. */
export async function lossyRead(
  lab: Lab,
  column: CursorColumn,
  arrangement: Arrangement,
): Promise<CutRead | string | undefined> {
  const reads = await cutReads(lab, column, arrangement, sampledCuts);
  return reads
    ? reads.find(isLossy)
    : "a read of such rows fails, or asks for what was not recorded";
}

export interface CutRead {
  readonly after: number;
  readonly first: Observation;
  readonly resumed: Observation;
  readonly state: JsonValue | undefined;
  readonly difference: Difference;
}

/**
 * Reads the arrangement to its end, and cut off at some messages and resumed. `undefined`: the
 * undisturbed read of it fails, so that nothing can be compared.
 */
async function cutReads(
  lab: Lab,
  column: CursorColumn,
  { changes }: Arrangement,
  most: number,
): Promise<readonly CutRead[] | undefined> {
  const { stream } = column;
  const provider = () => ({ provider: lab.learned.provider(changes) });
  const whole = await readFrom(lab, stream, undefined, provider());
  if (whole.outcome.status !== "succeeded") return undefined;
  const expected = outputRows(whole.messages, stream);
  // A crash right after a state is the hardest: whatever the state promises must have been written.
  const points = [
    ...statesOf(whole, stream.label).map(({ index }) => index + 1),
    whole.messages.length,
  ];
  const reads: CutRead[] = [];
  for (const after of lab.sample([...new Set(points)], most)) {
    const first = await cutOff(lab, stream, { after, runOptions: provider(), whole });
    const state = finalState(first, stream);
    const last = statesOf(first, stream.label).at(-1);
    const resumed = await readFrom(lab, stream, state, provider());
    const rows = [
      ...outputRows(first.messages.slice(0, last?.index ?? 0), stream),
      ...outputRows(resumed.messages, stream),
    ];
    reads.push({ after, first, resumed, state, difference: compareRows(expected, rows) });
  }
  return reads;
}
