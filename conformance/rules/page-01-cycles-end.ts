import { exchangeEvidence } from "../contract/evidence.ts";
import type { Lab } from "../contract/lab.ts";
import type { Listing, ProviderChanges } from "../contract/learned.ts";
import type { Provider, ProviderRequest } from "../contract/network.ts";
import type { Observation } from "../contract/observation.ts";
import { defineRule } from "../contract/rule.ts";
import {
  endText,
  handsOutTokens,
  missingReads,
  only,
  type PagedRead,
  pagedReads,
  readPages,
  withoutPages,
} from "../derive/sweeps/pages.ts";

const sampledReads = 6;

interface Cycle {
  readonly name: string;
  readonly changes: ProviderChanges;
  /**
   * Requests after which a token has come that was used before: only an error is right then. None:
   * it is enough that the read ends.
   */
  readonly reportedAfter?: number | undefined;
  wrap?(provider: Provider): Provider;
}

export default defineRule({
  id: "PAGE-01",
  level: "MUST",
  profile: "resilient",
  since: "0.1.0",
  title:
    "Pages that go round in circles end the read with an error: a token that comes again, two in turn, one page under every number.",
  why: "Providers have bugs too. A read that follows the same token for ever writes the same rows for ever, and is found by the bill.",
  fix: "Keep the tokens of a read, and fail when one comes again; it is not enough to compare with the last one. Where pages are numbered, end at the last page that the provider names, or when a page brings nothing new.",
  good: "if (used.has(next)) throw new ConnectorError('PAGING_LOOP');\nused.add(next);",
  bad: "while (page.next) page = await fetchPage(page.next);",
  notApplicable: withoutPages,
  async run(lab, report) {
    const reads = await pagedReads(lab);
    if (reads.length === 0) return report.missing(missingReads(lab));
    for (const read of lab.sample(reads, sampledReads)) {
      for (const { name, changes, reportedAfter, wrap } of cyclesFor(lab, read)) {
        report.checked(`${read.name}: ${name}`);
        const { observation, isEndless } = await readPages(lab, read, changes, wrap);
        const evidence = exchangeEvidence("The first requests", observation.exchanges.slice(0, 12));
        if (isEndless)
          report.fail(
            `${read.name}: ${name}, and the read goes on without end: it was stopped after ${observation.exchanges.length} requests. Expected: an error as soon as a page comes again.`,
            evidence,
          );
        else if (
          reportedAfter !== undefined &&
          pageCount(lab, observation) >= reportedAfter &&
          observation.outcome.status !== "failed"
        )
          report.fail(
            `${read.name}: ${name}, and the read ${endText(observation)} after ${observation.exchanges.length} requests. Expected: an error that says so, because the pages behind never came.`,
            evidence,
          );
      }
    }
  },
});

function cyclesFor(lab: Lab, { listings }: PagedRead): Cycle[] {
  const tokenListings = listings.filter(
    (listing) => handsOutTokens(listing) && listing.rows.length > 2,
  );
  const others = listings.filter((listing) => !handsOutTokens(listing) && listing.rows.length > 0);
  const pageSize = (listing: Listing) =>
    tokenListings.includes(listing) && listing.rows.length <= 2 * listing.pageSize ? 1 : undefined;
  const wrap = only(lab, tokenListings);
  return [
    ...(tokenListings.length === 0
      ? []
      : [
          {
            name: "every page from the second on names the same next token",
            changes: { cycle: "repeat", pageSize },
            reportedAfter: 2,
            wrap,
          } as const,
          {
            name: "the second and the third page name each other as the next one",
            changes: { cycle: "alternate", pageSize },
            reportedAfter: 3,
            wrap,
          } as const,
        ]),
    ...(others.length === 0
      ? []
      : [
          {
            name: "the provider gives its first page under every number",
            changes: {},
            wrap: (provider: Provider) => withFirstPage(lab, others, provider),
          },
        ]),
  ];
}

/** Most requests of one listing that hands out tokens. */
function pageCount(lab: Lab, { exchanges }: Observation): number {
  const counts = Map.groupBy(exchanges, ({ request }) => lab.learned.listingOf(request));
  return Math.max(
    0,
    ...[...counts].map(([listing, some]) => (listing && handsOutTokens(listing) ? some.length : 0)),
  );
}

/** A provider that takes no notice of the parameter that says the page. */
function withFirstPage(lab: Lab, listings: readonly Listing[], provider: Provider): Provider {
  return {
    unused: () => [],
    answer(request) {
      const listing = lab.learned.listingOf(request);
      return provider.answer(
        listing && listings.includes(listing) ? askForFirst(request, listing) : request,
      );
    },
  };
}

function askForFirst(request: ProviderRequest, { paging }: Listing): ProviderRequest {
  if (!("parameter" in paging) || paging.parameter === undefined || paging.isInBody) return request;
  const url = new URL(request.url);
  if (url.searchParams.has(paging.parameter))
    url.searchParams.set(paging.parameter, String(paging.first));
  return { ...request, url };
}
