/**
 * Paging for connectors: a page or two are fetched ahead while the last one is written, never more,
 * and pages that repeat without end become an error instead of an endless read.
 */
import { ConnectorError } from "../contract/errors.ts";

/** No honest listing has more pages; a provider whose page count grows for ever is stopped here. */
const maxPages = 10_000_000;

/**
 * Numbered pages fetched ahead of the one that is written: two, so that the provider works on one
 * while another travels.
 */
const pagesAhead = 2;

/**
 * Pages numbered from `first` (default 1). `lastPage` gives the number of the last page, from the
 * provider's own count (`meta.last_page`), never from the number of rows. The next two pages are
 * fetched ahead.
 */
export async function* pagesByNumber<Page>(
  fetchPage: (page: number) => Promise<Page>,
  lastPage: (page: Page) => number,
  { first = 1 }: { readonly first?: number } = {},
): AsyncGenerator<Page, void, undefined> {
  const ahead: Promise<Settled<Page>>[] = [begin(fetchPage(first))];
  let last = first;
  for (let number = first; number <= last; number++) {
    const page = await settle(ahead.shift() ?? begin(fetchPage(number)));
    last = lastPage(page);
    if (last - first > maxPages) throw new ConnectorError("PAGING_LOOP");
    while (ahead.length < Math.min(pagesAhead, last - number))
      ahead.push(begin(fetchPage(number + 1 + ahead.length)));
    yield page;
  }
}

/**
 * Pages found by an opaque token. `next` gives the token of the following page; null or undefined
 * ends it (an empty string is a token like any other). Empty and short pages go on as long as there
 * is a token.
 * @throws PAGING_LOOP when a token comes back that was already used.
 */
export async function* pagesByCursor<Page>(
  fetchPage: (cursor: string | undefined) => Promise<Page>,
  next: (page: Page) => string | null | undefined,
  { start }: { readonly start?: string | undefined } = {},
): AsyncGenerator<Page, void, undefined> {
  const used = new Set<string>();
  if (start !== undefined) used.add(start);
  let ahead = begin(fetchPage(start));
  for (;;) {
    const page = await settle(ahead);
    const cursor = next(page) ?? undefined;
    if (cursor !== undefined) {
      if (used.has(cursor)) throw new ConnectorError("PAGING_LOOP");
      used.add(cursor);
      ahead = begin(fetchPage(cursor));
    }
    yield page;
    if (cursor === undefined) return;
  }
}

/**
 * Pages by offset and limit. `rowCount` gives how many rows the page has; `hasMore` whether the
 * provider says that there are more. A page that has none but claims more is an error, because its
 * offset would never move.
 */
export async function* pagesByOffset<Page>(
  fetchPage: (offset: number) => Promise<Page>,
  rowCount: (page: Page) => number,
  hasMore: (page: Page) => boolean,
): AsyncGenerator<Page, void, undefined> {
  let offset = 0;
  let ahead = begin(fetchPage(0));
  for (;;) {
    const page = await settle(ahead);
    const more = hasMore(page);
    if (more && rowCount(page) === 0) throw new ConnectorError("PAGING_LOOP");
    offset += rowCount(page);
    if (more) ahead = begin(fetchPage(offset));
    yield page;
    if (!more) return;
  }
}

type Settled<Page> = { readonly page: Page } | { readonly error: unknown };

/**
 * Keeps a failure of the page ahead until it is asked for, so that it never surfaces as an
 * unhandled rejection.
 */
function begin<Page>(fetching: Promise<Page>): Promise<Settled<Page>> {
  return fetching.then(
    (page) => ({ page }),
    (error: unknown) => ({ error }),
  );
}

async function settle<Page>(fetching: Promise<Settled<Page>>): Promise<Page> {
  const settled = await fetching;
  if ("error" in settled) throw settled.error;
  return settled.page;
}
