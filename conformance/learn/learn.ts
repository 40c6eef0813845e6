/**
 * Learns from recordings how a provider gives its listings, so that a connector can be run against
 * page sizes, page borders, tokens and rows that were never recorded. exchanges → model (rows,
 * paging, size, filter) → listing (rows in order, envelope, proof) → provider. README.md has one
 * example with the values of each step: three recorded pages become one listing.
 */
import type { LearnedProvider } from "../contract/learned.ts";
import type { Recording } from "../contract/recording.ts";
import type { ConformanceSettings } from "../contract/settings.ts";
import { type RecordedExchange, readExchanges } from "./exchanges.ts";
import { createFinder } from "./finder.ts";
import { groupListings } from "./grouping.ts";
import { type KnownListing, type ListingPages, learnListings } from "./listing.ts";
import { groupByKind, learnModel, type Model } from "./model.ts";
import { createProvider } from "./provider.ts";

/**
 * Learns the listings that the recordings of successful runs show. `declared` paging, by path, goes
 * before learned paging. A listing that does not give its recorded answers again has the style
 * "unknown", and says why; only its recorded requests are answered.
 */
export function learnProvider(
  recordings: readonly Recording[],
  declared: ConformanceSettings["paging"],
): LearnedProvider {
  const exchanges = readExchanges(recordings);
  const known = learnAll(exchanges, declared);
  const find = createFinder(known);
  return {
    listings: known.map(({ listing }) => listing),
    provider: (changes) => createProvider(exchanges, find, changes),
    listingOf: (request) => find(request)?.listing,
  };
}

function learnAll(
  exchanges: readonly RecordedExchange[],
  declared: ConformanceSettings["paging"],
): KnownListing[] {
  const kinds = groupByKind(exchanges);
  const known = new Map<(typeof kinds)[number], readonly KnownListing[]>();
  // Those with the most pages first: they show what a listing of one page does not.
  for (const kind of kinds.toSorted((one, other) => pageCount(other) - pageCount(one))) {
    const knownListings = [...known.values()]
      .flat()
      .filter(({ listing }) => listing.origin === kind[0]?.url.origin);
    const knownModels = [...new Set(knownListings.map(({ model }) => model))];
    const model = learnModel(kind, declared, knownModels);
    if (model === undefined) continue;
    const groups = Object.groupBy(groupListings(model), isReadWhole);
    const wholes = learnTogether(model, groups.whole ?? [], knownListings);
    const parts = learnTogether(model, groups.part ?? [], [...knownListings, ...wholes]);
    known.set(kind, [...wholes, ...parts]);
  }
  return kinds.flatMap((kind) => known.get(kind) ?? []);
}

/**
 * A listing of which a check asked for one row says how many pages of one row there are: its answer
 * fits no formula over the rows that are recorded of it.
 */
const isReadWhole = ({ pages }: ListingPages) =>
  pages.some(({ exchange }) => exchange.isFullRead) ? "whole" : "part";

function learnTogether(
  model: Model,
  groups: readonly ListingPages[],
  knownListings: readonly KnownListing[],
): readonly KnownListing[] {
  const together = learnListings(model, groups, knownListings);
  // One listing that is not understood does not keep its siblings from being learned.
  const isAmbiguous =
    groups.length > 1 && together.some(({ listing }) => listing.paging.style === "unknown");
  return isAmbiguous
    ? groups.flatMap((group) => learnListings(model, [group], knownListings))
    : together;
}

/** The largest number of requests that one recording makes of one path. */
const pageCount = (kind: readonly RecordedExchange[]) =>
  Math.max(
    ...[...Map.groupBy(kind, ({ recording, url }) => `${recording} ${url.pathname}`).values()].map(
      (some) => some.length,
    ),
  );
