/**
 * Finds how the pages of a listing follow one another from the order in which a connector asked for
 * them.
 */

import { findCounting } from "./counted-paging.ts";
import { findLink } from "./link-paging.ts";
import type { PageSequence } from "./pages.ts";
import { type Paging, type PagingCandidate, pagingNames } from "./paging-candidate.ts";
import { filterName, publicName, sizeName } from "./parameters.ts";
import { findRowFields, findToken } from "./token-paging.ts";
import { transitionsOf } from "./transitions.ts";

/**
 * The way that explains most transitions; undefined when no request follows from the answer to an
 * earlier one.
 */
export function findPaging(
  sequences: readonly PageSequence[],
  onlyKey?: string,
): Paging | undefined {
  const pages = sequences.flat();
  const allKeys = new Set(pages.flatMap(({ exchange }) => [...exchange.parameters.keys()]));
  const keys = [...allKeys].filter((key) =>
    onlyKey === undefined ? !key.startsWith("@") : key === onlyKey,
  );
  const candidates: PagingCandidate[] = [
    findLink(sequences),
    ...keys.flatMap((key) => [
      findCounting(sequences, key, "pages"),
      findCounting(sequences, key, "rows"),
      findToken(sequences, key),
    ]),
    ...findRowFields(sequences, keys),
  ].filter((one) => one !== undefined);
  return candidates.sort(
    (one, other) =>
      other.transitionCount - one.transitionCount ||
      Number(other.hasFittingName) - Number(one.hasFittingName),
  )[0];
}

/** The parameter that seems to say the page though no answer explains its values. */
export function findUnexplained(sequences: readonly PageSequence[]): string | undefined {
  const keys = new Set(sequences.flat().flatMap(({ exchange }) => [...exchange.parameters.keys()]));
  return [...keys].find((key) => {
    const name = publicName(key).split("/").at(-1) ?? "";
    const isPageName =
      pagingNames.pages.test(name) || pagingNames.rows.test(name) || pagingNames.tokens.test(name);
    if (key.startsWith("@") || !isPageName || filterName.test(name) || sizeName.test(name))
      return false;
    const transitions = transitionsOf(sequences, [key]);
    return transitions.some(
      ({ page }) => !/^\d{4}-\d{2}/.test(page.exchange.parameters.get(key) ?? ""),
    );
  });
}
