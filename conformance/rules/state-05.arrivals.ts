/** Rows that come late, are older than the rest, have no date, or are of no known kind. */
import type { ProviderChanges } from "../contract/learned.ts";
import { asksForOrder, type CursorColumn, cursorOf, directionOf } from "../derive/rows/cursors.ts";
import { latest, momentOf, writeLike } from "../derive/rows/moments.ts";
import { withOtherOffsets } from "../derive/rows/offsets.ts";
import {
  type Oddity,
  type OddPlace,
  type OddRows,
  withNews,
  withOddRows,
} from "./state-05.odd-rows.ts";

const dayMs = 86_400_000;

export interface Arrival {
  readonly name: string;
  readonly row: string;
  readonly odd: OddRows;
  /** Read from the final state, else from the beginning. */
  readonly isResumed: boolean;
  /**
   * The rows that it is read with, without the odd one: all of them have to come; undefined where
   * it stands alone.
   */
  readonly others?: ProviderChanges | undefined;
  /** Rows of that name: a stream that refuses one refuses a page of them. */
  readonly pageOf?: string | undefined;
  /**
   * A read from the beginning with such a row. Nothing says that it is known already: where it
   * comes there, it has to come.
   */
  readonly fromTheBeginning?: ProviderChanges | undefined;
}

/** @param canHaveNews a resumed read gives new rows: they come besides */
export function arrivals(column: CursorColumn, canHaveNews: boolean): Arrival[] {
  const { rows } = column.listing;
  const newest = latest(rows.map((row) => cursorOf(row, column)));
  const oldest = rows
    .map((row) => cursorOf(row, column))
    .findLast((value) => momentOf(value) !== undefined);
  const { kind, value } = momentOf(oldest) ?? { kind: "number", value: 0 };
  const older = writeLike(oldest, value - (kind === "time" ? dayMs : 1));
  // Older than what a connector looks back.
  const ancient = writeLike(oldest, value - (kind === "time" ? 10 * 365 * dayMs : 1));
  // So many have a page of their own wherever they stand.
  const pageful = 2 * column.listing.pageSize - 1;
  // Where the connector asked for an order, the provider keeps it.
  const isOlderLast = !asksForOrder(column) || directionOf(column) === "descending";
  const arrival = (
    row: string,
    oddity: Oddity,
    place: OddPlace,
    isResumed: boolean,
    count = 1,
  ): Arrival => {
    const hasNews = isResumed && place !== "alone" && canHaveNews;
    const isUndated =
      typeof oddity === "object" ? oddity.cursor === null : oddity === "without its cursor field";
    return {
      name: `${row} comes ${placeTexts[place]}${isResumed ? ", in a read from the final state" : ""}`,
      row,
      isResumed,
      odd: withOddRows(column, oddity, place, { hasNews, count }),
      others: place === "alone" ? undefined : hasNews ? withNews(column) : {},
      pageOf: count > 1 ? undatedRow : undefined,
      fromTheBeginning:
        isResumed && isUndated && count === 1
          ? withOddRows(column, oddity, "last").changes
          : undefined,
    };
  };
  const both = [false, true].flatMap((isResumed) => [
    arrival("an older row", { cursor: older }, isOlderLast ? "last" : "first", isResumed),
    arrival(undatedRow, { cursor: null }, "last", isResumed),
    arrival(undatedRow, { cursor: null }, "first", isResumed),
  ]);
  const ofNews = [
    arrival(undatedRow, { cursor: null }, "between", true),
    arrival("a row without the cursor field", "without its cursor field", "between", true),
    arrival("a row of an unknown kind", "of an unknown kind", "between", true),
    // As a row that is pinned: the end is not where it stands.
    ...(asksForOrder(column) ? [] : [arrival("an older row", { cursor: older }, "between", true)]),
    // Others stand behind it on its page.
    ...(asksForOrder(column) || column.listing.pageSize < 2
      ? []
      : [arrival("a row that is years older", { cursor: ancient }, "first", true)]),
  ];
  const pages = [false, true].flatMap((isResumed) =>
    (["first", isResumed && canHaveNews ? "between" : "middle"] as const).map((place) =>
      arrival("a page of rows without a cursor value", { cursor: null }, place, isResumed, pageful),
    ),
  );
  const offsets = withOtherOffsets(column, newest);
  return [
    ...both,
    arrival(undatedRow, { cursor: null }, "alone", true),
    ...(canHaveNews ? ofNews : []),
    arrival("a row without the cursor field", "without its cursor field", "last", false),
    arrival("a row without the cursor field", "without its cursor field", "alone", true),
    arrival("a row of an unknown kind", "of an unknown kind", "first", false),
    arrival("a row of an unknown kind", "of an unknown kind", "alone", true),
    ...(hasPages(column) ? pages : []),
    ...(offsets
      ? [
          {
            name: "the same times are written with other offsets",
            row: "other offsets",
            odd: { changes: offsets, isGiven: () => true },
            isResumed: false,
            others: {},
          },
        ]
      : []),
  ];
}

const undatedRow = "a row without a cursor value";
const placeTexts: Readonly<Record<OddPlace, string>> = {
  first: "first",
  middle: "in the middle",
  last: "last",
  between: "between new ones",
  alone: "alone",
};

/** Those that are not compared, as "reads that are refused, 3 of 14: an older row". */
export const describeArrivals = (some: readonly Arrival[], all: readonly Arrival[], what: string) =>
  `${what}, ${some.length} of ${all.length}: ${[...new Set(some.map(({ row }) => row))].join(", ")}`;

/** Pages that come one after another by what the provider says, not by the cursor of a row. */
const hasPages = ({ listing: { paging }, keyFields }: CursorColumn): boolean =>
  keyFields.length > 0 &&
  (paging.style === "number" ||
    paging.style === "offset" ||
    paging.style === "link" ||
    (paging.style === "cursor" && paging.next !== undefined));
