/** One page of a listing: its rows, and what it can say about itself. */
import type { Changes, ProviderRow } from "../contract/learned.ts";
import type { PageView, Target } from "./formulas.ts";
import type { Paging } from "./moves.ts";
import type { Parameters } from "./parameters.ts";
import { type Ground, type Place, pageIndex, writePlace } from "./places.ts";

/**
 * When a page says that more follow: `exact` when rows are left; `full` when it is full, so that an
 * empty page may come last.
 */
export type MoreRule = "exact" | "full";

export interface PageRequest {
  readonly url: URL;
  readonly parameters: Parameters;
}

export interface PageOptions {
  readonly paging: Paging | undefined;
  readonly more: MoreRule;
  /** Rows that the provider says there are. */
  readonly total: number;
  readonly cycle?: Changes["cycle"];
}

export interface BuiltPage {
  readonly view: PageView;
  readonly rows: readonly ProviderRow[];
  /** What follows this page. */
  readonly after: Place;
}

export function buildPage(
  request: PageRequest,
  place: Place,
  ground: Ground,
  options: PageOptions,
): BuiltPage {
  const { paging, more, total, cycle } = options;
  const { rows: all, size } = ground;
  const index = pageIndex(place, size);
  const isSkipped =
    canSkip(paging) && ground.emptyPages.includes(index) && place.start < all.length;
  const rows = isSkipped ? [] : all.slice(place.start, place.start + size);
  const follows = isSkipped
    ? { start: place.start, skipped: place.skipped + 1 }
    : { start: place.start + rows.length, skipped: place.skipped };
  const isCycling = cycle !== undefined && index > 0;
  const after = isCycling ? cyclePlace(cycle, place, ground) : follows;
  const isLeft = more === "full" ? isSkipped || rows.length === size : follows.start < all.length;
  const hasMore = paging !== undefined && (isCycling || isLeft);

  const chunkCount = Math.ceil(all.length / size);
  const pageCount = Math.max(
    1,
    chunkCount + skippedBefore(chunkCount, canSkip(paging) ? ground.emptyPages : []),
  );
  const isCounted = paging !== undefined && paging.count !== "tokens";
  const places: Readonly<Record<Target, Place | undefined>> = {
    next: hasMore ? after : undefined,
    after,
    previous:
      index > 0 && (isCounted || place.start > size)
        ? { ...place, start: Math.max(0, place.start - size) }
        : undefined,
    first: isCounted ? { start: 0, skipped: 0 } : undefined,
    last: isCounted
      ? { start: Math.max(0, chunkCount - 1) * size, skipped: pageCount - Math.max(1, chunkCount) }
      : undefined,
    self: isCounted || place.start > 0 ? place : undefined,
  };
  const view: PageView = {
    ...request,
    ...{
      start: place.start,
      count: rows.length,
      size,
      total,
      index,
      pageCount,
      hasMore,
      first: paging?.first ?? 0,
    },
    target: (which) => {
      const wanted = places[which];
      return paging === undefined || wanted === undefined
        ? undefined
        : writePlace(paging, wanted, ground);
    },
  };
  return { view, rows, after };
}

/**
 * Only numbers and tokens can lead past a page without rows; an offset is what rows have been
 * given.
 */
const canSkip = (paging: Paging | undefined) =>
  paging !== undefined && paging.count !== "rows" && paging.fields === undefined;

/** Pages without rows among those that so many full ones need. */
function skippedBefore(chunkCount: number, emptyPages: readonly number[]): number {
  let skipped = 0;
  for (let given = 0; given < chunkCount; )
    if (emptyPages.includes(given + skipped)) skipped++;
    else given++;
  return skipped;
}

/** The second page, or the second and the third in turn. */
function cyclePlace(cycle: "repeat" | "alternate", place: Place, { rows, size }: Ground): Place {
  const second = { start: Math.min(size, rows.length), skipped: 0 };
  const third = { start: Math.min(2 * size, rows.length), skipped: 0 };
  return cycle === "alternate" && place.start === second.start ? third : second;
}
