/** The answers of a provider in which odd rows stand among its own. */
import { parseExact } from "svc-connectors";
import { isPlainObject, parsePointer } from "svc-connectors/host";
import type { ProviderChanges, ProviderRow } from "../contract/learned.ts";
import {
  type CursorColumn,
  changeRows,
  cursorOf,
  directionOf,
  underKey,
  withCursor,
} from "../derive/rows/cursors.ts";
import { latest, momentOf, writeLike } from "../derive/rows/moments.ts";
import { toText } from "../learn/json.ts";

/** `alone`: all that there is; `between`: two rows that are new since the state. */
export type OddPlace = "first" | "middle" | "last" | "between" | "alone";

/** The change to the cursor of the row that comes besides. */
export type Oddity =
  | { readonly cursor: unknown }
  | "without its cursor field"
  /** Nothing of it is known but its key. */
  | "of an unknown kind";

export interface OddRows {
  readonly changes: ProviderChanges;
  /** True once one of them stood in an answer: the provider may keep them back by their date. */
  isGiven(): boolean;
}

export interface OddRowsOptions {
  /** Rows that are new since the final state come besides. */
  readonly hasNews?: boolean;
  /** How many odd ones, each under a key of its own. Default: 1. */
  readonly count?: number;
}

/** Of the key that the odd row gets; those of a whole page count on from `pageNumber`. */
const oddNumber = 7;
const pageNumber = 101;
/** A time that no row has, for the provider's filter to let through. */
const markMs = Date.UTC(2091, 1, 3, 4, 5, 6, 789);
/** Field of odd rows, in whose place the answer has the odd one. */
const mark = "conformance_odd_row";
const kindMark = "conformance_new_kind";

/** A row like the others comes last: it shows the key of odd ones. */
export const withOrdinary = (column: CursorColumn): ProviderChanges =>
  withOddRows(column, { cursor: newestOf(column) }, "last").changes;

const newestOf = (column: CursorColumn) =>
  latest(column.listing.rows.map((row) => cursorOf(row, column)));

export const newRowCount = 2;

/** Two rows that are new since the final state, at the end where new ones stand. */
export const withNews = (column: CursorColumn): ProviderChanges =>
  changeRows(column, (rows, listing) => {
    if (listing !== column.listing) return rows;
    const news = newRows(column);
    return directionOf(column) === "descending"
      ? [...news.toReversed(), ...rows]
      : [...rows, ...news];
  });

function newRows(column: CursorColumn): readonly ProviderRow[] {
  const newest = newestOf(column);
  const { kind, value } = momentOf(newest) ?? { kind: "number", value: 0 };
  return Array.from({ length: newRowCount }, (_, at) => at + 1).flatMap((step) => {
    const copy = underKey(column.listing.rows.at(-1) ?? {}, column, 20 + step);
    const cursor = writeLike(newest, value + (kind === "time" ? step * newerMs : step));
    return copy ? [withCursor(copy, column, cursor) as ProviderRow] : [];
  });
}

/** A day, for cursors that are dates. */
const newerMs = 86_400_000;
/** The clock of reads with new rows: behind all of them. */
export const newsClockShiftMs = 5 * newerMs;

/** Rows besides, which no filter of the provider keeps back where that can be helped. */
export function withOddRows(
  column: CursorColumn,
  oddity: Oddity,
  place: OddPlace,
  { hasNews = false, count = 1 }: OddRowsOptions = {},
): OddRows {
  let isGiven = false;
  const news = hasNews ? withNews(column) : undefined;
  const replace = (value: unknown) => {
    if (!isPlainObject(value) || !Object.hasOwn(value, mark)) return value;
    isGiven = true;
    return oddRow(without(value, [mark]) as ProviderRow, column, oddity);
  };
  const changes: ProviderChanges = {
    ...changeRows(column, (recorded, listing, requestCount) => {
      const rows = news?.rows?.(listing, recorded, requestCount) ?? recorded;
      // Once: listings of several parents would give them as often.
      const odd = listing === column.listing ? markedRows(column, count) : [];
      if (place === "alone") return odd;
      const at = indexOf(place, rows, column);
      return [...rows.slice(0, at), ...odd, ...rows.slice(at)];
    }),
    answer: (answer, listing) =>
      column.listings.includes(listing)
        ? { ...answer, body: Buffer.from(rewrite(answer.body.toString("utf8"), replace)) }
        : answer,
  };
  return { changes, isGiven: () => isGiven };
}

function markedRows(column: CursorColumn, count: number): readonly ProviderRow[] {
  const { rows, filter } = column.listing;
  const model = rows.at(-1);
  if (model === undefined) return [];
  const newest = newestOf(column);
  const isTime = momentOf(newest)?.kind === "time";
  // In a window of time stands what is no newer than the rows that were recorded in one.
  const cursor = filter?.upper
    ? newest
    : writeLike(newest, isTime ? markMs : 8_007_199_254_740_000);
  return Array.from({ length: count }, (_, at) => {
    const own = underKey(model, column, count === 1 ? oddNumber : pageNumber + at) ?? model;
    return { ...withCursor(own, column, cursor), [mark]: true };
  });
}

function indexOf(
  place: Exclude<OddPlace, "alone">,
  { length }: readonly ProviderRow[],
  column: CursorColumn,
): number {
  if (place === "first") return 0;
  if (place === "last") return length;
  if (place === "middle") return length >> 1;
  return directionOf(column) === "descending" ? 1 : length - 1;
}

function oddRow(row: ProviderRow, column: CursorColumn, oddity: Oddity): ProviderRow {
  if (oddity === "of an unknown kind") return { object: kindMark, type: kindMark, [kindMark]: 1 };
  if (typeof oddity === "object") return withCursor(row, column, oddity.cursor) as ProviderRow;
  return without(row, parsePointer(column.field)) as ProviderRow;
}

function without(value: unknown, [step, ...rest]: readonly string[]): unknown {
  if (!isPlainObject(value) || step === undefined) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, part]) => {
      if (name !== step) return [[name, part]];
      return rest.length === 0 ? [] : [[name, without(part, rest)]];
    }),
  );
}

/** The JSON with every object in it changed; another text stays as it is. */
function rewrite(text: string, change: (value: unknown) => unknown): string {
  const walk = (value: unknown): unknown => {
    const changed = change(value);
    if (Array.isArray(changed)) return changed.map(walk);
    return isPlainObject(changed)
      ? Object.fromEntries(Object.entries(changed).map(([name, part]) => [name, walk(part)]))
      : changed;
  };
  try {
    return toText(walk(parseExact(text)));
  } catch {
    return text;
  }
}
