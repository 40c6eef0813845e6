/**
 * Learns from recordings how a provider gives its listings, so that a connector can be run against page sizes, page borders,
 * tokens and rows that were never recorded. exchanges → model (rows, paging, size, filter) → listing (rows in order, envelope,
 * proof) → provider.
 */
import type { LearnedProvider } from "../contract/learned.ts";
import type { Recording } from "../contract/recording.ts";
import type { ConformanceSettings } from "../contract/settings.ts";
import { readExchanges } from "./exchanges.ts";
import { createFinder } from "./finder.ts";
import { groupListings } from "./grouping.ts";
import { type KnownListing, learnListings } from "./listing.ts";
import { groupByKind, learnModel } from "./model.ts";
import { createProvider } from "./provider.ts";

/**
 * What the recordings of successful runs show. `declared` paging, by path, goes before what would be learned. A listing that
 * does not give its recorded answers again has the style "unknown", and says why; only its recorded requests are answered.
 */
export function learnProvider(
  recordings: readonly Recording[],
  declared: ConformanceSettings["paging"],
): LearnedProvider {
  const exchanges = readExchanges(recordings);
  const known = groupByKind(exchanges).flatMap((kind): KnownListing[] => {
    const model = learnModel(kind, declared);
    if (model === undefined) return [];
    const groups = groupListings(model);
    const together = learnListings(model, groups);
    // One listing that is not understood does not spoil what can be learned from its siblings.
    const isSpoilt = groups.length > 1 && together.some(({ listing }) => listing.paging.style === "unknown");
    return isSpoilt ? groups.flatMap((group) => learnListings(model, [group])) : together;
  });
  const find = createFinder(known);
  return {
    listings: known.map(({ listing }) => listing),
    provider: (changes) => createProvider(exchanges, find, changes),
    listingOf: (request) => find(request)?.listing,
  };
}
