/** Listings whose answers say how many rows there are in all. */

import type { Lab } from "../../contract/lab.ts";
import type { Listing } from "../../contract/learned.ts";
import { jsonLeaves, nameOf, scalarText } from "../../learn/json.ts";
import { type PagedRead, treeOf } from "../sweeps/pages.ts";

const totalName = /^(x?total[a-z]*)$/;
/** Names that, on a single page, may mean the number of its own rows. */
const countName = /^(count|recordcount|resultcount|rowcount|hits|nbhits|size)$/;

/** True when every page says how many rows there are in all. */
export function statesTotal(lab: Lab, { whole }: PagedRead, listing: Listing): boolean {
  const pages = whole.exchanges.filter(({ request }) => lab.learned.listingOf(request) === listing);
  const isTotal = (name: string) =>
    (totalName.test(name) && !/pages?$/.test(name)) || (pages.length > 1 && countName.test(name));
  return (
    pages.length > 0 &&
    listing.rows.length > 0 &&
    pages.every(({ answer }) => {
      const tree = treeOf({ answer });
      const leaves = "rows" in listing.paging ? [...jsonLeaves(tree, listing.paging.rows)] : [];
      const headers = Object.entries(answer?.headers ?? {});
      return [...leaves, ...headers].some(
        ([pointer, value]) =>
          isTotal(nameOf(pointer)) && scalarText(value) === String(listing.rows.length),
      );
    })
  );
}
