/** Listings that change while they are read, at the borders of their pages. */
import type { Lab } from "../contract/lab.ts";
import type { Listing, ProviderChanges, ProviderRow } from "../contract/learned.ts";
import { type CursorColumn, cursorOf, directionOf, withCursor } from "../derive/rows/cursors.ts";
import { latest } from "../derive/rows/moments.ts";
import { expectedKeys, type RowKey, resized } from "../derive/rows/page-rows.ts";
import { statesTotal } from "../derive/rows/totals.ts";
import { handsOutTokens, informativeListings, type PagedRead } from "../derive/sweeps/pages.ts";

/** One change, at one border of the pages. */
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

interface Moment {
  readonly field: string;
  readonly pageSize: number;
  /** Rows of the pages that were given. */
  readonly readCount: number;
  readonly column: CursorColumn | undefined;
}

/** Paging information in the answers of a listing. */
interface Signs {
  readonly tokens: boolean;
  readonly total: boolean;
  /** That more pages follow, by any word: a page that repeats another one is not the end then. */
  readonly more: boolean;
  /** The oldest rows come first, so that one that changes goes to the end. */
  readonly moves: boolean;
}

interface Edit {
  readonly name: string;
  edit(rows: readonly ProviderRow[], moment: Moment): readonly ProviderRow[];
  /**
   * Whether a connector can see what it did. Where pages are counted, a row that is deleted from a
   * page that was read pulls another one onto it: only a total that falls tells of that.
   */
  isSeen(by: Signs): boolean;
  /** Whether it can happen there at all. Default: always. */
  happens?(by: Signs): boolean;
  /** Why it is not tried where it is not seen. */
  readonly unseen?: string;
}

const edits: readonly Edit[] = [
  {
    name: "a row is added in front",
    edit: (rows, { field }) => [...copiesOf(rows.slice(0, 1), field), ...rows],
    isSeen: () => true,
  },
  {
    name: "as many rows as a page holds are added in front",
    edit: (rows, { field, pageSize }) => [...copiesOf(rows.slice(0, pageSize), field), ...rows],
    isSeen: ({ tokens, more }) => !tokens && more,
  },
  {
    name: "a row is added at the end",
    edit: (rows, { field }) => [...rows, ...copiesOf(rows.slice(-1), field)],
    isSeen: () => true,
  },
  {
    name: "a row that was not read yet is deleted",
    edit: (rows, { readCount }) => rows.filter((_, at) => at !== readCount),
    isSeen: () => true,
  },
  {
    name: "a row of the first page is deleted",
    edit: (rows) => rows.slice(1),
    isSeen: ({ tokens, total }) => tokens || total,
  },
  {
    name: "as many rows as a page holds are deleted from the front",
    edit: (rows, { pageSize }) => rows.slice(pageSize),
    isSeen: ({ tokens, total }) => !tokens && total,
  },
  {
    name: "a row of the first page changes and goes to the end",
    edit: ([first, ...rows], { column }) =>
      first === undefined || column === undefined
        ? rows
        : [...rows, withCursor(first, column, latest(rows.map((row) => cursorOf(row, column))))],
    happens: ({ moves }) => moves,
    // Where pages are counted, the total stays, and another row slides onto the page that was read.
    isSeen: ({ tokens, moves }) => tokens && moves,
    unseen:
      "no word of the answers tells of it; declare capabilities.loses_on_mutation if the row that slides onto a page that was read is lost",
  },
];

/** Far from the numbers of other made-up keys. */
const copyNumber = 77_777;
/** Made-up rows of one listing at most. */
const maxRows = 2_000;

const copiesOf = (rows: readonly ProviderRow[], field: string): readonly ProviderRow[] =>
  rows.flatMap((row, at) => resized([row], 2, field, copyNumber + at).slice(1));

const pageSizeOf = (listing: Listing) =>
  handsOutTokens(listing) && listing.rows.length <= listing.pageSize
    ? Math.ceil(listing.rows.length / 2)
    : listing.pageSize;

/**
 * Two pages of rows: the recorded ones, in smaller pages where the provider says what comes next,
 * with copies elsewhere.
 */
function rowsBefore(listing: Listing, { fields }: RowKey): readonly ProviderRow[] {
  const { rows } = listing;
  return rows.length > pageSizeOf(listing)
    ? rows
    : resized(rows, Math.min(2 * listing.pageSize, maxRows), fields.get(listing) ?? "", 1);
}

const borderCount = (listing: Listing, key: RowKey) =>
  listing.rows.length === 0
    ? 0
    : Math.ceil(rowsBefore(listing, key).length / pageSizeOf(listing)) - 1;

/**
 * Each change at the first and the last border, at every one when the run is exhaustive. Tokens
 * keep their place alike at all of them.
 */
export function mutationsOf(
  lab: Lab,
  read: PagedRead,
  key: RowKey,
  column: CursorColumn | undefined,
): readonly Mutation[] {
  const listings = changeable(read, key);
  const most = Math.max(0, ...listings.map((listing) => borderCount(listing, key)));
  const informative = informativeListings(lab, read);
  const borders = Array.from({ length: most }, (_, at) => at + 1);
  return lab.sample(borders, 2).flatMap((border) =>
    edits.flatMap((edit) => {
      const changed = listings.filter((listing) => {
        if (handsOutTokens(listing) && border > 1 && !lab.isExhaustive) return false;
        return edit.isSeen(signsOf(lab, read, listing, informative, column));
      });
      return changed.length === 0 ? [] : [mutation({ read, key, column }, changed, edit, border)];
    }),
  );
}

const changeable = (read: PagedRead, key: RowKey) =>
  [...key.fields.keys()].filter(
    (listing) => read.listings.includes(listing) && borderCount(listing, key) > 0,
  );

function signsOf(
  lab: Lab,
  read: PagedRead,
  listing: Listing,
  informative: readonly Listing[],
  column: CursorColumn | undefined,
): Signs {
  const total = statesTotal(lab, read, listing);
  return {
    tokens: handsOutTokens(listing),
    total,
    more: total || informative.includes(listing),
    moves: column?.listings.includes(listing) === true && directionOf(column) === "ascending",
  };
}

/** The things that are not tried on a read, and why. */
export function unseenEdits(
  lab: Lab,
  read: PagedRead,
  key: RowKey,
  column: CursorColumn | undefined,
): readonly string[] {
  const listings = changeable(read, key);
  if (listings.length === 0) return ["none of its listings can be given two pages"];
  // Tokens keep their place: fewer edits show how they do.
  if (listings.some(handsOutTokens)) return [];
  const informative = informativeListings(lab, read);
  const signs = listings.map((listing) => signsOf(lab, read, listing, informative, column));
  return edits.flatMap(({ name, isSeen, happens, unseen }) =>
    signs.some(isSeen) || (happens && !signs.some(happens))
      ? []
      : [`${name}: ${unseen ?? "no total in the answers would tell of it"}`],
  );
}

interface Changing {
  readonly read: PagedRead;
  readonly key: RowKey;
  readonly column: CursorColumn | undefined;
}

function mutation(
  { read, key, column }: Changing,
  listings: readonly Listing[],
  { name, edit }: Edit,
  border: number,
): Mutation {
  const pageSize = (listing: Listing) =>
    listings.includes(listing) ? pageSizeOf(listing) : undefined;
  const rows = (listing: Listing, all: readonly ProviderRow[], pageCount: number) => {
    if (!listings.includes(listing)) return all;
    const before = rowsBefore(listing, key);
    const own = Math.min(border, borderCount(listing, key));
    if (pageCount < own) return before;
    const field = key.fields.get(listing) ?? "";
    return edit(before, {
      field,
      pageSize: pageSizeOf(listing),
      readCount: own * pageSizeOf(listing),
      column,
    });
  };
  const end = Number.POSITIVE_INFINITY;
  const settled = (listing: Listing, all: readonly ProviderRow[]) => rows(listing, all, end);
  const after = expectedKeys(read, key, { rows: settled });
  const before = expectedKeys(read, key, { rows: (listing, all) => rows(listing, all, 0) });
  return {
    name: `after page ${border} of ${listings[0]?.id}${listings.length > 1 ? ` and ${listings.length - 1} more` : ""} ${name}`,
    listings,
    changes: { rows, pageSize },
    settled: { rows: settled, pageSize },
    stillThere: [...before].filter((one) => after.has(one)),
  };
}
