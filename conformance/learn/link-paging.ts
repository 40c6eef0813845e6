/** Pages that are asked for by the URL that an answer names. */
import { type Candidate, findCounting, intersect, type Move, names } from "./moves.ts";
import { leafUrl, type RecordedPage, type Walk } from "./pages.ts";
import { publicName } from "./parameters.ts";

/** Requests for the very URL that an earlier answer names as the next one. */
export function findLink(walks: readonly Walk[]): Candidate | undefined {
  const moves = walks.flatMap((walk) =>
    walk
      .map((page, at) => ({ page, earlier: walk.slice(0, at) }))
      .filter(
        ({ page, earlier }) =>
          earlier.length > 0 &&
          earlier.every(({ exchange }) => exchange.url.href !== page.exchange.url.href),
      ),
  );
  const isFollowed = ({ page, earlier }: Move) => linkSources(page, earlier).length > 0;
  const sources = intersect(
    moves.filter(isFollowed).map(({ page, earlier }) => linkSources(page, earlier)),
  );
  const next = sources.find((name) => /next/i.test(name)) ?? sources[0];
  if (next === undefined) return undefined;
  // Other walks of the path begin with URLs that no answer names; in a walk all that follows must
  // be named.
  if (moves.some((move) => !isFollowed(move) && isLinkOfSameWalk(move))) return undefined;
  const followed = moves.filter(isFollowed).map(({ page }) => page);
  const key = linkKey(walks.flat(), followed, next);
  if (key === undefined) return undefined;
  const counted = findCounting(walks, key, "pages") ?? findCounting(walks, key, "rows");
  const { first, count } =
    counted && !names.tokens.test(publicName(key))
      ? counted
      : { first: 0, count: "tokens" as const };
  return {
    style: "link",
    keys: [key],
    first,
    count,
    next,
    moves: followed.length,
    hasFittingName: true,
  };
}

const linkSources = ({ exchange }: RecordedPage, earlier: readonly RecordedPage[]) =>
  earlier.flatMap((one) =>
    [...one.leaves]
      .filter(([, leaf]) => leafUrl(one, leaf)?.href === exchange.url.href)
      .map(([name]) => name),
  );

const isLinkOfSameWalk = ({ page, earlier }: Move) =>
  earlier.some((one) =>
    [...page.exchange.parameters.keys()].every((key) => one.exchange.parameters.has(key)),
  );

/** The parameter in which the links differ from each other and from the first request. */
function linkKey(
  pages: readonly RecordedPage[],
  followed: readonly RecordedPage[],
  next: string,
): string | undefined {
  const urls = pages.flatMap((page) => leafUrl(page, page.leaves.get(next)) ?? []);
  const queryKeys = [
    ...new Set(followed.flatMap(({ exchange }) => [...exchange.url.searchParams.keys()])),
  ];
  const changing = queryKeys.filter((name) => {
    const values = urls.map((url) => url.searchParams.get(name));
    const isOfFirst = pages.some(
      ({ exchange }) =>
        !followed.some((one) => one.exchange === exchange) &&
        values.includes(exchange.url.searchParams.get(name)),
    );
    return values.every((value) => value !== null) && !isOfFirst;
  });
  const name =
    changing.find((one) => names.tokens.test(one)) ??
    changing.find((one) => names.pages.test(one)) ??
    changing[0];
  return name === undefined ? undefined : `?${name}`;
}
