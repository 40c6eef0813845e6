/** Pages that are asked for by the URL that an answer names. */
import { findCounting } from "./counted-paging.ts";
import { type PageSequence, type RecordedPage, urlIn } from "./pages.ts";
import { type PagingCandidate, pagingNames } from "./paging-candidate.ts";
import { publicName } from "./parameters.ts";
import { intersect, type Transition } from "./transitions.ts";

/** Requests for the very URL that an earlier answer names as the next one. */
export function findLink(sequences: readonly PageSequence[]): PagingCandidate | undefined {
  const transitions = sequences.flatMap((sequence) =>
    sequence
      .map((page, at) => ({ page, earlier: sequence.slice(0, at) }))
      .filter(
        ({ page, earlier }) =>
          earlier.length > 0 &&
          earlier.every(({ exchange }) => exchange.url.href !== page.exchange.url.href),
      ),
  );
  const isFollowed = ({ page, earlier }: Transition) => linkSources(page, earlier).length > 0;
  const sources = intersect(
    transitions.filter(isFollowed).map(({ page, earlier }) => linkSources(page, earlier)),
  );
  const next = sources.find((name) => /next/i.test(name)) ?? sources[0];
  if (next === undefined) return undefined;
  // Other sequences of the path begin with URLs that no answer names; inside a sequence every page
  // after the first must be named.
  if (transitions.some((transition) => !isFollowed(transition) && isLinkOfSameSequence(transition)))
    return undefined;
  const followed = transitions.filter(isFollowed).map(({ page }) => page);
  const key = linkKey(sequences.flat(), followed, next);
  if (key === undefined) return undefined;
  const counted = findCounting(sequences, key, "pages") ?? findCounting(sequences, key, "rows");
  const { first, count } =
    counted && !pagingNames.tokens.test(publicName(key))
      ? counted
      : { first: 0, count: "tokens" as const };
  return {
    style: "link",
    keys: [key],
    first,
    count,
    next,
    transitionCount: followed.length,
    hasFittingName: true,
  };
}

const linkSources = ({ exchange }: RecordedPage, earlier: readonly RecordedPage[]) =>
  earlier.flatMap((one) =>
    [...one.envelope]
      .filter(([, value]) => urlIn(one, value)?.href === exchange.url.href)
      .map(([name]) => name),
  );

const isLinkOfSameSequence = ({ page, earlier }: Transition) =>
  earlier.some((one) =>
    [...page.exchange.parameters.keys()].every((key) => one.exchange.parameters.has(key)),
  );

/** The parameter in which the links differ from each other and from the first request. */
function linkKey(
  pages: readonly RecordedPage[],
  followed: readonly RecordedPage[],
  next: string,
): string | undefined {
  const urls = pages.flatMap((page) => urlIn(page, page.envelope.get(next)) ?? []);
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
    changing.find((one) => pagingNames.tokens.test(one)) ??
    changing.find((one) => pagingNames.pages.test(one)) ??
    changing[0];
  return name === undefined ? undefined : `?${name}`;
}
