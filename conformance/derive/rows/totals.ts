/** Listings whose answers say how many rows there are in all, or in the window asked for. */

import type { Lab } from "../../contract/lab.ts";
import type { Listing } from "../../contract/learned.ts";
import type { Exchange } from "../../contract/network.ts";
import { jsonLeaves, nameOf, scalarText } from "../../learn/json.ts";
import { type PagedRead, treeOf } from "../sweeps/pages.ts";
import { windowsOf, windowText } from "./windows.ts";

const totalName = /^(x?total[a-z]*)$/;
/** Names that, on a single page, may mean the number of its own rows. */
const countName = /^(count|recordcount|resultcount|rowcount|hits|nbhits|size)$/;

/** True when every page says how many rows there are in all, or every one those of its window. */
export function statesTotal(lab: Lab, read: PagedRead, listing: Listing): boolean {
  const pages = read.whole.exchanges.filter(
    ({ request }) => lab.learned.listingOf(request) === listing,
  );
  const windows = windowsOf(lab, read, listing);
  const hasPages = [...windows.values()].some(({ pageCount }) => pageCount > 1);
  const isTotal = (name: string) =>
    (totalName.test(name) && !/pages?$/.test(name)) || (hasPages && countName.test(name));
  const says = ({ answer }: Exchange, total: number | undefined) => {
    const tree = treeOf({ answer });
    const leaves = "rows" in listing.paging ? [...jsonLeaves(tree, listing.paging.rows)] : [];
    return [...leaves, ...Object.entries(answer?.headers ?? {})].some(
      ([pointer, value]) => isTotal(nameOf(pointer)) && scalarText(value) === String(total),
    );
  };
  return (
    pages.length > 0 &&
    listing.rows.length > 0 &&
    (pages.every((page) => says(page, listing.rows.length)) ||
      (listing.filter?.upper !== undefined &&
        pages.every((page) =>
          says(page, windows.get(windowText(listing, page.request))?.rows.length),
        )))
  );
}
