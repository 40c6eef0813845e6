/**
 * Groups the recorded pages of the same listing: those that differ only in the page, its size and
 * the filter.
 */
import { filterKeys } from "./filter.ts";
import type { ListingPages } from "./listing.ts";
import type { Model } from "./model.ts";
import { type RecordedPage, urlIn } from "./pages.ts";

/** Keys of the parameters that may differ within a listing. */
export function varyingKeys({ paging, size, filter }: Model): ReadonlySet<string> {
  return new Set([
    ...(paging?.keys ?? []),
    ...(size.key === undefined ? [] : [size.key]),
    ...filterKeys(filter),
  ]);
}

export function groupListings(model: Model): ListingPages[] {
  const varying = varyingKeys(model);
  const groups = new Map<string, { fixed: ReadonlyMap<string, string>; pages: RecordedPage[] }>();
  const placed = new Map<RecordedPage, string>();
  for (const page of model.pages) {
    const { url, parameters } = page.exchange;
    const fixed = new Map(
      [...parameters]
        .filter(([key]) => !varying.has(key))
        .sort(([one], [other]) => (one < other ? -1 : 1)),
    );
    const own = `${url.pathname} ${JSON.stringify([...fixed])}`;
    const id = linkingGroup(model, page, placed) ?? own;
    const group = groups.get(id) ?? { fixed, pages: [] };
    group.pages.push(page);
    groups.set(id, group);
    placed.set(page, id);
  }
  return [...groups.values()];
}

/**
 * URLs of next pages may leave out parameters of the first request: the page belongs to the listing
 * whose answer named it.
 */
function linkingGroup(
  { paging }: Model,
  { exchange }: RecordedPage,
  placed: ReadonlyMap<RecordedPage, string>,
): string | undefined {
  if (paging?.style !== "link" || paging.next === undefined) return undefined;
  for (const [page, id] of placed) {
    if (page.exchange.recording !== exchange.recording) continue;
    if (urlIn(page, page.envelope.get(paging.next))?.href === exchange.url.href) return id;
  }
  return undefined;
}
