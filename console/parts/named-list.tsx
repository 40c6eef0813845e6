import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { SearchedList } from "./searched-list.tsx";
import { Empty, Loaded } from "./states.tsx";

/** Everything of one kind, by name; or what it would be, and how one begins. */
export const NamedList = <Item extends { readonly name: string }>({
  query,
  empty,
  children,
}: {
  readonly query: UseQueryResult<readonly Item[]>;
  readonly empty: {
    readonly title: string;
    readonly text: string;
    readonly action?: ReactNode;
  };
  /** An `li` with a key. */
  readonly children: (item: Item) => ReactNode;
}) => (
  <Loaded query={query}>
    {(all) =>
      all.length === 0 ? <Empty {...empty} /> : <SearchedList items={all}>{children}</SearchedList>
    }
  </Loaded>
);
