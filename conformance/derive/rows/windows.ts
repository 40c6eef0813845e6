/** Windows of time in which a read asks for the rows of a listing, each with pages of its own. */
import { valueAt } from "svc-connectors/host";
import type { Lab } from "../../contract/lab.ts";
import type { Listing, ProviderRow } from "../../contract/learned.ts";
import type { ProviderRequest } from "../../contract/network.ts";
import { readParameters } from "../../learn/parameters.ts";
import { type PagedRead, treeOf } from "../sweeps/pages.ts";

/** A window as it was read; the whole listing where it is not read by windows. */
export interface ReadWindow {
  readonly pageCount: number;
  /** Its rows, in the order in which they came. */
  readonly rows: readonly ProviderRow[];
}

/** The bounds that a request asks for as one text; "" where the listing is not read by windows. */
export function windowText(
  { filter }: Listing,
  { url, body }: Pick<ProviderRequest, "url" | "body">,
): string {
  if (filter?.upper === undefined) return "";
  const parameters = readParameters(url, body);
  return [filter, filter.upper]
    .map(({ parameter, isInBody }) => parameters.get(`${isInBody ? "/" : "?"}${parameter}`) ?? "")
    .join("..");
}

/** In the order in which the undisturbed read asks for them. */
export function windowsOf(
  lab: Lab,
  { whole }: PagedRead,
  listing: Listing,
): ReadonlyMap<string, ReadWindow> {
  const { paging } = listing;
  const pages = whole.exchanges.filter(({ request }) => lab.learned.listingOf(request) === listing);
  const windows = Map.groupBy(pages, ({ request }) => windowText(listing, request));
  return new Map(
    [...windows].map(([text, own]) => {
      const rows = own.flatMap((page) => {
        const given = "rows" in paging ? valueAt(treeOf(page), paging.rows) : undefined;
        return Array.isArray(given) ? (given as readonly ProviderRow[]) : [];
      });
      return [text, { pageCount: own.length, rows }];
    }),
  );
}

/** The most rows that stand behind one another on its pages. */
export const largestWindow = (lab: Lab, read: PagedRead, listing: Listing): number =>
  listing.filter?.upper === undefined
    ? listing.rows.length
    : Math.max(0, ...[...windowsOf(lab, read, listing).values()].map(({ rows }) => rows.length));

/** With so many rows in all, `resized`, the largest of its windows has as many as wanted. */
export const rowCountFor = (listing: Listing, largest: number, wanted: number): number =>
  listing.filter?.upper === undefined
    ? wanted
    : listing.rows.length * Math.ceil(wanted / Math.max(1, largest));
