/** Finds the listing that a request asks for a page of. */
import { varyingKeys } from "./grouping.ts";
import type { KnownListing } from "./listing.ts";
import { readParameters } from "./parameters.ts";
import type { ListingFinder } from "./provider.ts";

/** Headers count only where the request's are known. */
export function createFinder(known: readonly KnownListing[]): ListingFinder {
  const byPath = Map.groupBy(
    known,
    ({ listing }) => `${listing.method} ${listing.origin}${listing.path}`,
  );
  return ({ method, url, body, headers }) => {
    const parameters = readParameters(url, body);
    return byPath.get(`${method} ${url.origin}${url.pathname}`)?.find(({ fixed, model }) => {
      const varying = varyingKeys(model);
      const isFollowing =
        model.paging?.style === "link" && model.paging.keys.some((key) => parameters.has(key));
      const hasFixed = [...fixed].every(([key, value]) => {
        if (key.startsWith("@")) return headers === undefined || headers[key.slice(1)] === value;
        return parameters.get(key) === value || (isFollowing && !parameters.has(key));
      });
      return hasFixed && [...parameters.keys()].every((key) => varying.has(key) || fixed.has(key));
    });
  };
}
