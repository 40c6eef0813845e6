/** Listings that change while they are read, at the borders of their pages. */
import type { Lab } from "../contract/lab.ts";
import type { Listing, ProviderChanges, ProviderRow } from "../contract/learned.ts";
import { type CursorColumn, directionOf } from "../derive/rows/cursors.ts";
import { expectedKeys, type RowKey } from "../derive/rows/page-rows.ts";
import { statesTotal } from "../derive/rows/totals.ts";
import { handsOutTokens, informativeListings, type PagedRead } from "../derive/sweeps/pages.ts";
import { layoutOf, onePageEach, pageSizeOf } from "./page-06.borders.ts";
import { edits, type ListingEdit, type Signs } from "./page-06.edits.ts";

/** One change at one border of the pages, or two at two that follow one another. */
export interface Mutation {
  /** "after the first page a row is added in front". */
  readonly name: string;
  /** Listings that it is tried on. */
  readonly listings: readonly Listing[];
  readonly changes: Pick<Required<ProviderChanges>, "rows" | "pageSize">;
  /** The same rows as they are in the end, from the beginning. */
  readonly settled: Pick<Required<ProviderChanges>, "rows" | "pageSize">;
  /** Keys of rows that are there all the time, and become records. */
  readonly stillThere: readonly string[];
}

/**
 * Each change at the first and the last border, at every one when the run is exhaustive. Tokens
 * keep their place alike at all of them, and changes that need three pages are made at the first
 * border with so many alone.
 */
export function mutationsOf(
  lab: Lab,
  read: PagedRead,
  key: RowKey,
  column: CursorColumn | undefined,
): readonly Mutation[] {
  const listings = changeable(lab, read, key);
  const most = Math.max(
    0,
    ...listings.map((one) => layoutOf(lab, read, key, one, onePageEach).borders.length),
  );
  const signs = signsOf(lab, read, listings, column);
  const borders = Array.from({ length: most }, (_, at) => at + 1);
  return lab.sample(borders, 2).flatMap((border, at) =>
    edits.flatMap((edit) => {
      if (edit.room !== onePageEach && at > 0 && !lab.isExhaustive) return [];
      const changed = changedBy(lab, read, key, edit, signs).filter(
        (listing) => !handsOutTokens(listing) || border === 1 || lab.isExhaustive,
      );
      return changed.length === 0
        ? []
        : [mutation({ lab, read, key, column }, changed, edit, border)];
    }),
  );
}

const changeable = (lab: Lab, read: PagedRead, key: RowKey) =>
  [...key.fields.keys()].filter(
    (listing) =>
      read.listings.includes(listing) &&
      layoutOf(lab, read, key, listing, onePageEach).borders.length > 0,
  );

/** Listings whose answers tell of the change, and that have the borders that it needs. */
const changedBy = (
  lab: Lab,
  read: PagedRead,
  key: RowKey,
  { isSeen, room }: ListingEdit,
  signs: ReadonlyMap<Listing, Signs>,
): readonly Listing[] =>
  [...signs].flatMap(([listing, own]) =>
    isSeen(own) && layoutOf(lab, read, key, listing, room).borders.length > 0 ? [listing] : [],
  );

function signsOf(
  lab: Lab,
  read: PagedRead,
  listings: readonly Listing[],
  column: CursorColumn | undefined,
): ReadonlyMap<Listing, Signs> {
  const informative = informativeListings(lab, read);
  return new Map(
    listings.map((listing) => {
      const total = statesTotal(lab, read, listing);
      const signs = {
        tokens: handsOutTokens(listing),
        total,
        more: total || informative.includes(listing),
        moves: column?.listings.includes(listing) === true && directionOf(column) === "ascending",
      };
      return [listing, signs];
    }),
  );
}

/** The things that are not tried on a read, and why. */
export function unseenEdits(
  lab: Lab,
  read: PagedRead,
  key: RowKey,
  column: CursorColumn | undefined,
): readonly string[] {
  const listings = changeable(lab, read, key);
  if (listings.length === 0) return ["none of its listings can be given two pages"];
  // Tokens keep their place: fewer edits show how they do.
  if (listings.some(handsOutTokens)) return [];
  const signs = signsOf(lab, read, listings, column);
  const seen = [...signs.values()];
  return edits.flatMap((edit) => {
    const { name, isSeen, happens, unseen } = edit;
    if (seen.some(isSeen))
      return changedBy(lab, read, key, edit, signs).length > 0
        ? []
        : [`${name}: none of its listings can be given three pages`];
    return happens && !seen.some(happens)
      ? []
      : [`${name}: ${unseen ?? "no total in the answers would tell of it"}`];
  });
}

interface Changing {
  readonly lab: Lab;
  readonly read: PagedRead;
  readonly key: RowKey;
  readonly column: CursorColumn | undefined;
}

function mutation(
  { lab, read, key, column }: Changing,
  listings: readonly Listing[],
  { name, edit, second, room }: ListingEdit,
  at: number,
): Mutation {
  const changed = new Map(
    listings.map((listing) => {
      const { rows, borders } = layoutOf(lab, read, key, listing, room);
      const {
        requestCount = 0,
        front = 0,
        readCount = 0,
      } = borders[at - 1] ?? borders.at(-1) ?? {};
      const size = pageSizeOf(listing);
      const moment = {
        front,
        readCount,
        pageSize: size,
        field: key.fields.get(listing) ?? "",
        column,
      };
      const once = edit(rows, moment);
      const twice = second ? second(once, { ...moment, readCount: readCount + size }) : once;
      return [listing, { requestCount, size, rows, once, twice }] as const;
    }),
  );
  const pageSize = (listing: Listing) => changed.get(listing)?.size;
  const rows = (listing: Listing, all: readonly ProviderRow[], pageCount: number) => {
    const own = changed.get(listing);
    if (own === undefined) return all;
    if (pageCount < own.requestCount) return own.rows;
    return pageCount === own.requestCount ? own.once : own.twice;
  };
  const end = Number.POSITIVE_INFINITY;
  const settled = (listing: Listing, all: readonly ProviderRow[]) => rows(listing, all, end);
  const after = expectedKeys(read, key, { rows: settled });
  const before = expectedKeys(read, key, { rows: (listing, all) => rows(listing, all, 0) });
  const page = Math.max(...[...changed.values()].map(({ requestCount }) => requestCount));
  return {
    name: `after page ${page} of ${listings[0]?.id}${listings.length > 1 ? ` and ${listings.length - 1} more` : ""} ${name}`,
    listings,
    changes: { rows, pageSize },
    settled: { rows: settled, pageSize },
    stillThere: [...before].filter((one) => after.has(one)),
  };
}
