/** Borders of a listing's pages, at which it changes while it is read. */
import type { Lab } from "../contract/lab.ts";
import type { Listing, ProviderRow } from "../contract/learned.ts";
import { keyText, type RowKey, resized } from "../derive/rows/page-rows.ts";
import { largestWindow, rowCountFor, windowsOf } from "../derive/rows/windows.ts";
import { handsOutTokens, type PagedRead } from "../derive/sweeps/pages.ts";

/** Made-up rows of one listing at most. */
const maxRows = 2_000;

/** Behind a page that another one of the same window follows. */
export interface Border {
  /** Requests of the listing before it. */
  readonly requestCount: number;
  /** Rows before its window. */
  readonly front: number;
  /** Rows before it, from the beginning of the listing. */
  readonly readCount: number;
}

/** Pages of its window that a border has at least. */
export interface Room {
  readonly before: number;
  readonly behind: number;
}

export const onePageEach: Room = { before: 1, behind: 1 };

/** A listing with as many pages as a change needs. */
export interface Layout {
  readonly rows: readonly ProviderRow[];
  /** Those with room for the change. */
  readonly borders: readonly Border[];
}

export const pageSizeOf = (listing: Listing) =>
  handsOutTokens(listing) && listing.rows.length <= listing.pageSize
    ? Math.ceil(listing.rows.length / 2)
    : listing.pageSize;

/**
 * The recorded rows, in smaller pages where the provider says what comes next, with copies where
 * they do not fill one page and begin another, or two and a third for changes that need those.
 */
export function layoutOf(
  lab: Lab,
  read: PagedRead,
  key: RowKey,
  listing: Listing,
  { before, behind }: Room,
): Layout {
  const field = key.fields.get(listing) ?? "";
  const size = pageSizeOf(listing);
  const largest = largestWindow(lab, read, listing);
  const isTwoPages = before + behind === 2;
  // Where one is deleted, a row is still left for the third page.
  const wanted = isTwoPages ? 2 * listing.pageSize : 2 * size + 2;
  const rows =
    largest >= (isTwoPages ? size + 1 : wanted)
      ? listing.rows
      : resized(listing.rows, Math.min(rowCountFor(listing, largest, wanted), maxRows), field, 1);
  const borders = bordersOf(lab, read, field, listing, rows);
  return {
    rows,
    borders: borders.filter(
      ({ front, readCount }, at) =>
        readCount - front >= before * size && borders[at + behind - 1]?.front === front,
    ),
  };
}

function bordersOf(
  lab: Lab,
  read: PagedRead,
  field: string,
  listing: Listing,
  rows: readonly ProviderRow[],
): readonly Border[] {
  const size = pageSizeOf(listing);
  const keys = rows.map((row) => keyText(row, field));
  const windows =
    listing.filter?.upper === undefined
      ? [{ front: 0, count: rows.length }]
      : [...windowsOf(lab, read, listing).values()].map((window) => ({
          front: Math.max(0, keys.indexOf(keyText(window.rows[0], field))),
          // Each row has as many copies as any other.
          count: window.rows.length * (rows.length / listing.rows.length),
        }));
  const borders: Border[] = [];
  let before = 0;
  for (const { front, count } of windows) {
    const pageCount = Math.max(1, Math.ceil(count / size));
    for (let at = 1; at < pageCount; at++)
      borders.push({ requestCount: before + at, front, readCount: front + at * size });
    before += pageCount;
  }
  return borders;
}
