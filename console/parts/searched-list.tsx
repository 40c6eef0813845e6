import { TextInput } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { Icon } from "./icon.tsx";

/** So many names are found by looking. */
const few = 8;

/** Items with names as rows, and a search for their names when there are many. */
export function SearchedList<Item extends { readonly name: string }>({
  items,
  children,
}: {
  readonly items: readonly Item[];
  /** An `li` with a key. */
  readonly children: (item: Item) => ReactNode;
}) {
  const [search, setSearch] = useState("");
  const wanted = search.toLowerCase();
  const found = items.filter(({ name }) => name.toLowerCase().includes(wanted));
  return (
    <div className="stack">
      {items.length > few ? (
        <TextInput
          aria-label="Search"
          placeholder="Search"
          leftSection={<Icon name="search" />}
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
          maw="22rem"
        />
      ) : null}
      <ul className="rows">{found.map(children)}</ul>
      {found.length === 0 ? <p className="dim">Nothing is called “{search}”.</p> : null}
    </div>
  );
}
