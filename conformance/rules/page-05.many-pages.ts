/** A read of more pages than anybody counts. */
import { exchangeEvidence } from "../contract/evidence.ts";
import type { Lab } from "../contract/lab.ts";
import type { Listing, ProviderChanges, ProviderRow } from "../contract/learned.ts";
import type { Reporter } from "../contract/rule.ts";
import {
  expectedKeys,
  givenKeys,
  type RowKey,
  rowKeyOf,
  withRowCount,
} from "../derive/rows/page-rows.ts";
import { handsOutTokens, missingText, only, type PagedRead } from "../derive/sweeps/pages.ts";

/** Bounds that programs set themselves are 100 or 1,000 pages. */
const pageCounts = { usual: 330, thorough: 1_100 };
/** Where larger pages would be more, the provider gives a row at a time, or nothing is tried. */
const mostRows = 5_000;
/** One request takes an interpreter some ten milliseconds. */
const deadlineMs = 60_000;

/** One stream, since a thousand pages take seconds. An image has no other long read. */
export async function tryManyPages(lab: Lab, report: Reporter, reads: readonly PagedRead[]) {
  const isThorough = lab.isExhaustive || lab.target.kind === "container";
  const pageCount = pageCounts[isThorough ? "thorough" : "usual"];
  const isSmall = (listing: Listing) => sizeOf(listing, pageCount) * pageCount <= mostRows;
  const name = `a read of ${pageCount.toLocaleString("en")} pages`;
  for (const read of reads) {
    const key = rowKeyOf(lab, read);
    const listing = key && read.listings.find((one) => key.fields.has(one) && isSmall(one));
    if (!key || !listing) continue;
    const why = await readManyPages(lab, report, read, { name, key, listing, pageCount });
    if (why === undefined) return;
    report.untried(`${read.name}: ${name}: ${why}`);
    if (lab.target.kind === "container") return;
  }
}

/** Short pages, which only tokens lead on from, are the concern of PAGE-03. */
const sizeOf = (listing: Listing, pageCount: number) =>
  listing.pageSize * pageCount > mostRows && handsOutTokens(listing) ? 1 : listing.pageSize;

/** Why it could not be seen. */
async function readManyPages(
  lab: Lab,
  report: Reporter,
  read: PagedRead,
  {
    name,
    key,
    listing,
    pageCount,
  }: {
    readonly name: string;
    readonly key: RowKey;
    readonly listing: Listing;
    readonly pageCount: number;
  },
): Promise<string | undefined> {
  const changes = changesOf(key, listing, pageCount);
  const observation = await lab.run(lab.commandOf(read.recording), {
    provider: only(lab, [listing])(lab.learned.provider(changes)),
    deadlineMs,
  });
  const { exchanges, outcome } = observation;
  if (exchanges.some(({ unmatched }) => unmatched !== undefined))
    return "it asks for what was not recorded";
  if (outcome.status === "hung") return `it does not end within ${deadlineMs / 1_000} s`;
  report.checked(`${read.name}: ${name}`);
  const given = givenKeys(read, key, observation);
  const expected = expectedKeys(read, key, changes);
  const missing = [...expected].filter((one) => !given.has(one));
  if (outcome.status === "succeeded" && missing.length > 0)
    report.fail(
      `${read.name}: ${name} of ${listing.id} succeeds after ${exchanges.length.toLocaleString("en")} requests, but ${missingText(missing)}. Expected: all rows, or a failed read.`,
      exchangeEvidence("Last requests", exchanges.slice(-2)),
    );
  return undefined;
}

function changesOf(
  key: RowKey,
  listing: Listing,
  pageCount: number,
): ProviderChanges & Pick<Required<ProviderChanges>, "rows"> {
  const sized = withRowCount(key, () => pageCount * sizeOf(listing, pageCount));
  let made: readonly ProviderRow[] | undefined;
  return {
    ...sized,
    rows(one, own, requestCount) {
      if (one !== listing) return own;
      made ??= sized.rows(one, own, requestCount);
      return made;
    },
    pageSize: (one) => (one === listing ? sizeOf(listing, pageCount) : undefined),
  };
}
