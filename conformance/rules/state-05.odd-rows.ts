/** Rows that come late, are older than the rest, have no date, or are of no known kind. */
import { parseExact } from "svc-connectors";
import { isPlainObject, parsePointer } from "svc-connectors/host";
import type { ProviderChanges, ProviderRow } from "../contract/learned.ts";
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
}

/** `alone`: all that there is. */
type Place = "first" | "last" | "alone";

/** The change to the cursor of the row that comes besides. */
type Oddity =
  | { readonly cursor: unknown }
  | "without its cursor field"
  /** Nothing of it is known but its key. */
  | "of an unknown kind";

export function arrivals(column: CursorColumn): Arrival[] {
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
  const arrival = (row: string, oddity: Oddity, place: Place, isResumed: boolean): Arrival => ({
    name: `${row} comes ${place}${isResumed ? ", in a read from the final state" : ""}`,
    isResumed,
    changes: withStranger(column, oddity, place),
  });
  const both = [false, true].flatMap((isResumed) => [
    arrival("an older row", { cursor: older }, isOlderLast ? "last" : "first", isResumed),
    arrival("a row without a cursor value", { cursor: null }, "last", isResumed),
    arrival("a row without a cursor value", { cursor: null }, "first", isResumed),
  ]);
  const offsets = withOtherOffsets(column, newest);
  return [
    ...both,
    arrival("a row without a cursor value", { cursor: null }, "alone", true),
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
const kindMark = "conformance_new_kind";

/** One more row, which no filter of the provider keeps back. */
function withStranger(column: CursorColumn, oddity: Oddity, place: Place): ProviderChanges {
  const newest = latest(column.listing.rows.map((row) => cursorOf(row, column)));
  const isTime = momentOf(newest)?.kind === "time";
  const mark = writeLike(newest, isTime ? markMs : 8_007_199_254_740_000);
  const copy = (model: ProviderRow | undefined) => {
    const own = model && underKey(model, column, 7);
    return model && (withCursor(own ?? model, column, mark) as ProviderRow);
  };
  const isMarked = (row: unknown) =>
    isPlainObject(row) && toText(cursorOf(row as ProviderRow, column)) === toText(mark);
  return {
    ...changeRows(column, (rows, listing) => {
      const odd = copy(rows.at(-1) ?? column.listing.rows.at(-1));
      // Once: listings of several parents would give it as often.
      const strangers = odd && listing === column.listing ? [odd] : [];
      if (place === "alone") return strangers;
      return place === "last" ? [...rows, ...strangers] : [...strangers, ...rows];
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
