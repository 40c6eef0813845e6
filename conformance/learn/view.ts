/** Builds one page of a listing: its rows, and the view from which its envelope is written. */
import type { ProviderChanges, ProviderRow } from "../contract/learned.ts";
import type { PageRelation, PageView } from "./formulas.ts";
import type { Paging } from "./paging-candidate.ts";
import type { Parameters } from "./parameters.ts";
import { type ListingContext, type PagePosition, pageIndex, writePosition } from "./positions.ts";

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
  readonly cycle?: ProviderChanges["cycle"] | undefined;
}

export interface BuiltPage {
  readonly view: PageView;
  readonly rows: readonly ProviderRow[];
  /** The position of the page that follows. */
  readonly after: PagePosition;
}

export function buildPage(
  request: PageRequest,
  position: PagePosition,
  context: ListingContext,
  options: PageOptions,
): BuiltPage {
  const { paging, more, total, cycle } = options;
  const { rows: all, size } = context;
  const index = pageIndex(position, size);
  const isSkipped =
    canSkip(paging) && context.emptyPages.includes(index) && position.start < all.length;
  const rows = isSkipped ? [] : all.slice(position.start, position.start + size);
  const follows = isSkipped
    ? { start: position.start, skipped: position.skipped + 1 }
    : { start: position.start + rows.length, skipped: position.skipped };
  const isCycling = cycle !== undefined && index > 0;
  const after = isCycling ? cyclePosition(cycle, position, context) : follows;
  const isLeft = more === "full" ? isSkipped || rows.length === size : follows.start < all.length;
  const hasMore = paging !== undefined && (isCycling || isLeft);

  const chunkCount = Math.ceil(all.length / size);
  const pageCount = Math.max(
    1,
    chunkCount + skippedBefore(chunkCount, canSkip(paging) ? context.emptyPages : []),
  );
  const isCounted = paging !== undefined && paging.count !== "tokens";
  const positions: Readonly<Record<PageRelation, PagePosition | undefined>> = {
    next: hasMore ? after : undefined,
    after,
    previous:
      index > 0 && (isCounted || position.start > size)
        ? { ...position, start: Math.max(0, position.start - size) }
        : undefined,
    first: isCounted ? { start: 0, skipped: 0 } : undefined,
    last: isCounted
      ? { start: Math.max(0, chunkCount - 1) * size, skipped: pageCount - Math.max(1, chunkCount) }
      : undefined,
    self: isCounted || position.start > 0 ? position : undefined,
  };
  const view: PageView = {
    ...request,
    start: position.start,
    count: rows.length,
    size,
    total,
    index,
    pageCount,
    hasMore,
    first: paging?.first ?? 0,
    parametersOf: (which) => {
      const wanted = positions[which];
      return paging === undefined || wanted === undefined
        ? undefined
        : writePosition(paging, wanted, context);
    },
  };
  return { view, rows, after };
}

/** Only numbers and tokens can lead past a page without rows; an offset counts the rows given. */
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
function cyclePosition(
  cycle: "repeat" | "alternate",
  position: PagePosition,
  { rows, size }: ListingContext,
): PagePosition {
  const second = { start: Math.min(size, rows.length), skipped: 0 };
  const third = { start: Math.min(2 * size, rows.length), skipped: 0 };
  return cycle === "alternate" && position.start === second.start ? third : second;
}
