/** Rows that come late, are older than the rest, have no date, or are of no known kind. */
import { parseExact } from "svc-connectors";
import { isPlainObject, parsePointer, valueAt } from "svc-connectors/host";
import type { ProviderChanges, ProviderRow } from "../contract/learned.ts";
import type { Observation } from "../contract/observation.ts";
import {
  asksForOrder,
  type CursorColumn,
  changeRows,
  cursorOf,
  directionOf,
  underKey,
  withCursor,
} from "../derive/rows/cursors.ts";
import { latest, momentOf, writeLike } from "../derive/rows/moments.ts";
import { withOtherOffsets } from "../derive/rows/offsets.ts";
import { toText } from "../learn/json.ts";

export interface Arrival {
  readonly name: string;
  readonly changes: ProviderChanges;
  /** Read from the final state, else from the beginning. */
  readonly isResumed: boolean;
  /**
   * The rows that it is read with, without the odd one: all of them have to come; undefined where
   * it stands alone.
   */
  readonly others?: ProviderChanges | undefined;
  /**
   * A read from the beginning with such a row. Nothing says that it is known already: where it
   * comes there, it has to come.
   */
  readonly fromTheBeginning?: ProviderChanges | undefined;
}

/** `alone`: all that there is; `between`: two rows that are new since the state. */
type Place = "first" | "last" | "between" | "alone";

/** The change to the cursor of the row that comes besides. */
type Oddity =
  | { readonly cursor: unknown }
  | "without its cursor field"
  /** Nothing of it is known but its key. */
  | "of an unknown kind";

/** @param canHaveNews a resumed read gives new rows: they come besides */
export function arrivals(column: CursorColumn, canHaveNews: boolean): Arrival[] {
  const { rows } = column.listing;
  const newest = latest(rows.map((row) => cursorOf(row, column)));
  const oldest = rows
    .map((row) => cursorOf(row, column))
    .findLast((value) => momentOf(value) !== undefined);
  const older = writeLike(
    oldest,
    (momentOf(oldest)?.value ?? 0) - (momentOf(oldest)?.kind === "time" ? 86_400_000 : 1),
  );
  // Where the connector asked for an order, the provider keeps it.
  const isOlderLast = !asksForOrder(column) || directionOf(column) === "descending";
  const arrival = (row: string, oddity: Oddity, place: Place, isResumed: boolean): Arrival => {
    const hasNews = isResumed && place !== "alone" && canHaveNews;
    const isUndated =
      typeof oddity === "object" ? oddity.cursor === null : oddity === "without its cursor field";
    return {
      name: `${row} comes ${place}${place === "between" ? " new ones" : ""}${isResumed ? ", in a read from the final state" : ""}`,
      isResumed,
      changes: withOddRow(column, oddity, place, hasNews),
      others: place === "alone" ? undefined : hasNews ? withNews(column) : {},
      fromTheBeginning:
        isResumed && isUndated ? withOddRow(column, oddity, "last", false) : undefined,
    };
  };
  const both = [false, true].flatMap((isResumed) => [
    arrival("an older row", { cursor: older }, isOlderLast ? "last" : "first", isResumed),
    arrival("a row without a cursor value", { cursor: null }, "last", isResumed),
    arrival("a row without a cursor value", { cursor: null }, "first", isResumed),
  ]);
  const offsets = withOtherOffsets(column, newest);
  return [
    ...both,
    arrival("a row without a cursor value", { cursor: null }, "alone", true),
    ...(canHaveNews
      ? [
          arrival("a row without a cursor value", { cursor: null }, "between", true),
          arrival("a row without the cursor field", "without its cursor field", "between", true),
          arrival("a row of an unknown kind", "of an unknown kind", "between", true),
        ]
      : []),
    arrival("a row without the cursor field", "without its cursor field", "last", false),
    arrival("a row without the cursor field", "without its cursor field", "alone", true),
    arrival("a row of an unknown kind", "of an unknown kind", "first", false),
    arrival("a row of an unknown kind", "of an unknown kind", "alone", true),
    ...(offsets
      ? [
          {
            name: "the same times are written with other offsets",
            changes: offsets,
            isResumed: false,
            others: {},
          },
        ]
      : []),
  ];
}

/** Of the key that the odd row gets. */
const oddNumber = 7;
/**
 * A time that no row has, for the provider's filter to let through; in the answer it becomes the
 * value.
 */
const markMs = Date.UTC(2091, 1, 3, 4, 5, 6, 789);
const kindMark = "conformance_new_kind";

/** A row like the others comes last: it shows the key of odd ones. */
export function withOrdinary(column: CursorColumn): ProviderChanges {
  const newest = latest(column.listing.rows.map((row) => cursorOf(row, column)));
  return withOddRow(column, { cursor: newest }, "last", false);
}

/** True when the odd row stands in an answer: the provider may have kept it back by its date. */
export function isOddGiven(column: CursorColumn, { exchanges }: Observation): boolean {
  const [field = ""] = column.keyFields;
  const odd = underKey(column.listing.rows.at(-1) ?? {}, column, oddNumber);
  const key = toText(valueAt(odd, field));
  return exchanges.some(({ answer }) => answer?.body.toString("utf8").includes(key));
}

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
  const newest = latest(column.listing.rows.map((row) => cursorOf(row, column)));
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

/** One more row, which no filter of the provider keeps back. */
function withOddRow(
  column: CursorColumn,
  oddity: Oddity,
  place: Place,
  hasNews: boolean,
): ProviderChanges {
  const newest = latest(column.listing.rows.map((row) => cursorOf(row, column)));
  const isTime = momentOf(newest)?.kind === "time";
  const mark = writeLike(newest, isTime ? markMs : 8_007_199_254_740_000);
  const copy = (model: ProviderRow | undefined) => {
    const own = model && underKey(model, column, oddNumber);
    return model && (withCursor(own ?? model, column, mark) as ProviderRow);
  };
  const isMarked = (row: unknown) =>
    isPlainObject(row) && toText(cursorOf(row as ProviderRow, column)) === toText(mark);
  const news = hasNews ? withNews(column) : undefined;
  return {
    ...changeRows(column, (recorded, listing, requestCount) => {
      const rows = news?.rows?.(listing, recorded, requestCount) ?? recorded;
      const odd = copy(recorded.at(-1) ?? column.listing.rows.at(-1));
      // Once: listings of several parents would give it as often.
      const oddRows = odd && listing === column.listing ? [odd] : [];
      if (place === "alone") return oddRows;
      if (place === "between" && hasNews && listing === column.listing) {
        const at = directionOf(column) === "descending" ? 1 : rows.length - 1;
        return [...rows.slice(0, at), ...oddRows, ...rows.slice(at)];
      }
      return place === "last" ? [...rows, ...oddRows] : [...oddRows, ...rows];
    }),
    answer: (answer, listing) =>
      column.listings.includes(listing)
        ? {
            ...answer,
            body: Buffer.from(
              rewrite(answer.body.toString("utf8"), (value) =>
                isMarked(value) ? oddRow(value as ProviderRow, column, oddity) : value,
              ),
            ),
          }
        : answer,
  };
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
