/**
 * How the pages of a listing hang together, found in the order in which a connector asked for them.
 */
import { findLink } from "./link-paging.ts";
import { type Candidate, filterName, findCounting, movesOf, names, type Paging } from "./moves.ts";
import type { Walk } from "./pages.ts";
import { publicName, sizeName } from "./parameters.ts";
import { findRowFields, findToken } from "./token-paging.ts";

/** Undefined when no request follows from the answer to an earlier one. */
export function findPaging(walks: readonly Walk[], onlyKey?: string): Paging | undefined {
  const pages = walks.flat();
  const allKeys = new Set(pages.flatMap(({ exchange }) => [...exchange.parameters.keys()]));
  const keys = [...allKeys].filter((key) =>
    onlyKey === undefined ? !key.startsWith("@") : key === onlyKey,
  );
  const candidates: Candidate[] = [
    findLink(walks),
    ...keys.flatMap((key) => [
      findCounting(walks, key, "pages"),
      findCounting(walks, key, "rows"),
      findToken(walks, key),
    ]),
    ...findRowFields(walks, keys),
  ].filter((one) => one !== undefined);
  return candidates.sort(
    (one, other) =>
      other.moves - one.moves || Number(other.hasFittingName) - Number(one.hasFittingName),
  )[0];
}

/** The parameter that seems to say the page though no answer explains its values. */
export function findUnexplained(walks: readonly Walk[]): string | undefined {
  const keys = new Set(walks.flat().flatMap(({ exchange }) => [...exchange.parameters.keys()]));
  return [...keys].find((key) => {
    const name = publicName(key).split("/").at(-1) ?? "";
    const isPlace = names.pages.test(name) || names.rows.test(name) || names.tokens.test(name);
    if (key.startsWith("@") || !isPlace || filterName.test(name) || sizeName.test(name))
      return false;
    const moves = movesOf(walks, [key]);
    return moves.some(({ page }) => !/^\d{4}-\d{2}/.test(page.exchange.parameters.get(key) ?? ""));
  });
}
