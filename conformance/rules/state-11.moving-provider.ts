/** A provider whose rows change and whose clock goes on while a connector reads. */
import type { Lab, StreamFacts } from "../contract/lab.ts";
import type { Listing } from "../contract/learned.ts";
import type { Provider } from "../contract/network.ts";
import type { Observation } from "../contract/observation.ts";
import {
  type CursorColumn,
  changeRows,
  cursorColumn,
  cursorOf,
  inOrder,
  withCursor,
} from "../derive/rows/cursors.ts";
import { latest, momentOf, writeLike } from "../derive/rows/moments.ts";
import { compareRows, type Difference, type OutputRow, outputRows } from "../derive/rows/rows.ts";
import { isPageToken } from "../derive/sweeps/pages.ts";
import {
  finalState,
  isBeyondRecordings,
  readFrom,
  startOfReads,
  undisturbed,
} from "../derive/sweeps/reads.ts";
import { timedLeaves } from "../derive/sweeps/states.ts";

/** How long the provider makes the first read wait, so that its clock moves. */
const waitSeconds = 60;
/** The next read comes so much later. */
const laterMs = 3_600_000;

export interface Change {
  /** "changed, with a time 1 s after the read began". */
  readonly name: string;
  /** Milliseconds after the beginning of the read. */
  readonly afterMs: number;
  /** Another row changes later than it, and is read then: the cursor may move beyond the first. */
  readonly other?: { readonly afterMs: number; readonly of: "page" | "parent" };
}

/** While the read waits, at its very beginning, and before the wait. */
export const changesWhileReading: readonly Change[] = [
  { name: "changed, with the time at which the read began", afterMs: 0 },
  { name: "changed, with a time 1 s after the read began", afterMs: 1_000 },
  { name: "changed, with a time 30 s after the read began", afterMs: 30_000 },
  {
    name: "changed, with a time 1 s after the read began, and one of a later page 30 s after",
    afterMs: 1_000,
    other: { afterMs: 30_000, of: "page" },
  },
  {
    name: "changed, with a time 1 s after the read began, and one of another parent 30 s after",
    afterMs: 1_000,
    other: { afterMs: 30_000, of: "parent" },
  },
];

/**
 * Something is left to read when the row changes: a page of its listing, or the listing of another
 * parent. A sequence has no time at which a read could end it.
 */
export function canChange(column: CursorColumn, { other }: Change): boolean {
  if (other !== undefined && momentOf(newestOf(column))?.kind !== "time") return false;
  return other?.of === "parent" ? column.listings.length > 1 : column.pageCount > 1;
}

/**
 * Position tokens of a provider see changes by other means than the rows' times. How it filters is
 * learned from a read that resumes.
 */
export async function datedColumn(lab: Lab, stream: StreamFacts) {
  if (!stream.resumed) return undefined;
  const column = await cursorColumn(lab, stream);
  const whole = await undisturbed(lab, stream);
  const cursors = outputRows(whole.messages, stream).map(
    ({ data }) => data[stream.cursorField ?? ""],
  );
  const state = finalState(whole, stream);
  return column &&
    !isPageToken(state, whole, column.listings) &&
    changesWhileReading.some((change) => canChange(column, change)) &&
    timedLeaves(state, cursors).length > 0
    ? column
    : undefined;
}

export interface MovingRead {
  readonly first: Observation;
  readonly next: Observation;
  readonly state: ReturnType<typeof finalState>;
  readonly difference: Difference;
}

/** A row of a listing by its number, and the cursor value that it gets. */
export interface Changed {
  readonly listing: Listing;
  readonly at: number;
  readonly value: unknown;
  /** Only once a page of these was given: until then it is as it was. */
  readonly behind: readonly Listing[];
}

/**
 * The first row, already read, gets a new cursor value of that time while the connector waits for
 * what it reads next; a second read goes on from the state of the first one. Both together, against
 * what the provider has then. A text says why nothing could be seen.
 */
export async function readWhileChanging(
  lab: Lab,
  column: CursorColumn,
  change: Change,
): Promise<MovingRead | string> {
  const { stream } = column;
  const rows = changedRows(lab, column, change);
  const settled = () => ({
    provider: lab.learned.provider(changing(column, rows, () => true)),
    clockShiftMs: laterMs,
  });
  const whole = await readFrom(lab, stream, undefined, settled());
  const given = new Set<Listing>();
  const first = await readFrom(lab, stream, undefined, {
    provider: moving(lab, column, rows, given),
  });
  if (whole.outcome.status !== "succeeded" || first.outcome.status !== "succeeded")
    return "one of the reads fails";
  const all = outputRows(whole.messages, stream);
  const isChanged = ({ data }: OutputRow) =>
    momentOf(data[column.cursorField])?.value === momentOf(rows[0]?.value)?.value;
  if (!all.some(isChanged)) return "a read from the beginning does not give the row as it is then";
  // Rows that slide onto another page while the order changes are the concern of PAGE-06.
  const expected = all.filter(isChanged);
  const state = finalState(first, stream);
  const next = await readFrom(lab, stream, state, settled());
  if (isBeyondRecordings(next)) return "the next read asks for what the recordings do not show";
  const read = [...outputRows(first.messages, stream), ...outputRows(next.messages, stream)];
  return { first, next, state, difference: compareRows(expected, read) };
}

export function changedRows(
  lab: Lab,
  column: CursorColumn,
  { afterMs, other }: Change,
): readonly Changed[] {
  const beganMs = startOfReads(lab);
  // Parents are asked about in their order.
  const [first = column.listing] = column.listings;
  const own = other?.of === "parent" ? first : column.listing;
  const row = { listing: own, at: 0, value: valueAt(column, beganMs + afterMs), behind: [own] };
  if (other === undefined) return [row];
  const listing = other.of === "parent" ? (column.listings.at(-1) ?? own) : own;
  const value = valueAt(column, beganMs + other.afterMs);
  return [row, { listing, at: listing.rows.length - 1, value, behind: [own] }];
}

/** `isDue`: whether a row has changed by now. */
export const changing = (
  column: CursorColumn,
  changed: readonly Changed[],
  isDue: (row: Changed) => boolean,
) =>
  changeRows(column, (rows, listing) => {
    const due = changed.filter((one) => one.listing === listing && isDue(one));
    if (due.length === 0) return rows;
    const edited = rows.map((row, at) => {
      const one = due.find((own) => own.at === at);
      return one ? withCursor(row, column, one.value) : row;
    });
    // Where the provider keeps an order, a row that changes takes another place.
    return changed.length > 1 ? inOrder(edited, column) : edited;
  });

const newestOf = (column: CursorColumn) =>
  latest(column.listing.rows.map((row) => cursorOf(row, column)));

function valueAt(column: CursorColumn, ms: number): unknown {
  const newest = newestOf(column);
  const moment = momentOf(newest);
  return writeLike(newest, moment?.kind === "number" ? moment.value + 1 : ms);
}

/**
 * Rows change once a page was given of the listings that they stand behind. The second request is
 * put off once, where the clock is the kit's.
 */
function moving(
  lab: Lab,
  column: CursorColumn,
  rows: readonly Changed[],
  given: Set<Listing>,
): Provider {
  const provider = lab.learned.provider(
    changing(column, rows, ({ behind }) => behind.every((listing) => given.has(listing))),
  );
  const watched = new Set(rows.map(({ listing }) => listing));
  let requestCount = 0;
  return {
    answer(request) {
      const listing = lab.learned.listingOf(request);
      if (listing === undefined || !watched.has(listing)) return provider.answer(request);
      requestCount++;
      if (requestCount === 2 && lab.can("clock"))
        return {
          status: 429,
          headers: { "content-type": "application/json", "retry-after": String(waitSeconds) },
          body: Buffer.from(lab.answers?.answers["429"]?.body ?? "{}"),
        };
      const answer = provider.answer(request);
      given.add(listing);
      return answer;
    },
    unused: () => [],
  };
}
