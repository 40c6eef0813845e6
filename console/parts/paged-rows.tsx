import { Button } from "@mantine/core";
import type { InfiniteData, UseInfiniteQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Loading, ProblemNote } from "./states.tsx";

interface Page<Item> {
  readonly items: readonly Item[];
  readonly next_cursor: string | null;
}

/** How a list is asked for, page after page. */
export const byPage = {
  initialPageParam: undefined as string | undefined,
  getNextPageParam: ({ next_cursor: next }: Page<unknown>) => next ?? undefined,
} as const;

/** A list that comes page by page: what was shown stays, and more is asked for by a click. */
export function PagedRows<Item>({
  query,
  none,
  className = "rows",
  children,
}: {
  readonly query: UseInfiniteQueryResult<InfiniteData<Page<Item>>>;
  /** The text for an empty list. */
  readonly none: string;
  readonly className?: string | undefined;
  /** An `li` with a key, for each. */
  readonly children: (items: readonly Item[]) => ReactNode;
}) {
  const items = query.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <>
      {query.isPending ? <Loading /> : null}
      {query.isError ? (
        <ProblemNote error={query.error} onRetry={() => void query.refetch()} />
      ) : null}
      {query.isSuccess && items.length === 0 ? <p className="dim">{none}</p> : null}
      {items.length === 0 ? null : <ul className={className}>{children(items)}</ul>}
      {query.hasNextPage ? (
        <div>
          <Button
            variant="default"
            loading={query.isFetchingNextPage}
            onClick={() => void query.fetchNextPage()}
          >
            Show more
          </Button>
        </div>
      ) : null}
    </>
  );
}
