/** Pages that are asked for by a token of an answer, or by fields of its last row. */
import { isObject, leavesOf, nameOf, scalarText } from "./json.ts";
import { type Candidate, filterName, intersect, type Move, movesOf, names } from "./moves.ts";
import { leafUrl, type RecordedPage, type Walk } from "./pages.ts";
import { publicName } from "./parameters.ts";

const startKeysAtMost = 2;

/** Leaves of earlier answers, or parameters in their URLs, that hold the value. */
function tokenSources(page: RecordedPage, key: string, value: string): string[] {
  return [...page.leaves]
    .filter(([, leaf]) => tokenIn(page, leaf, key) === value)
    .map(([name]) => name);
}

/** The token that a leaf holds: itself, or the parameter of that name in its URL. */
export function tokenIn(page: RecordedPage, leaf: unknown, key: string): string | undefined {
  const url = leafUrl(page, leaf);
  if (typeof leaf === "boolean") return undefined;
  return url ? (url.searchParams.get(publicName(key)) ?? undefined) : scalarText(leaf);
}

export function findToken(walks: readonly Walk[], key: string): Candidate | undefined {
  const within = movesOf(walks, [key]);
  const moves = within.length > 0 ? within : resumptionsOf(walks, key);
  if (moves.length === 0) return undefined;
  const sources = intersect(
    moves.map(({ page, earlier }) => {
      const value = page.exchange.parameters.get(key) ?? "";
      return earlier.flatMap((one) =>
        one.exchange.parameters.get(key) === value ? [] : tokenSources(one, key, value),
      );
    }),
  );
  const next =
    sources.find((name) => /next/i.test(name)) ??
    sources.find((name) => names.tokens.test(nameOf(name))) ??
    sources[0];
  if (next === undefined) return undefined;
  const hasFittingName = names.tokens.test(publicName(key));
  return {
    style: "cursor",
    keys: [key],
    first: 0,
    count: "tokens",
    next,
    moves: moves.length,
    hasFittingName,
  };
}

/** Recordings that begin with a token: an answer of another recording may have handed it out. */
function resumptionsOf(walks: readonly Walk[], key: string): Move[] {
  if (!names.tokens.test(publicName(key)) || filterName.test(publicName(key))) return [];
  return walks.flatMap((walk) => {
    const [page] = walk;
    const others = walks.filter(
      (one) => one !== walk && one[0]?.exchange.url.pathname === page?.exchange.url.pathname,
    );
    return page?.exchange.parameters.has(key) ? [{ page, earlier: others.flat() }] : [];
  });
}

/** Parameters that are fields of the last row of an earlier page. */
export function findRowFields(walks: readonly Walk[], keys: readonly string[]): Candidate[] {
  const changing = keys.filter(
    (key) => new Set(walks.flat().map(({ exchange }) => exchange.parameters.get(key))).size > 1,
  );
  const sets = changing.flatMap((key, at) => [
    [key],
    ...changing.slice(at + 1).map((other) => [key, other]),
  ]);
  return sets
    .filter((set) => set.length <= startKeysAtMost)
    .flatMap((set) => {
      const moves = movesOf(walks, set);
      const fields = set.map((key) => {
        const found = intersect(
          moves.map(({ page, earlier }) =>
            earlier.flatMap(({ rows }) =>
              fieldsWith(rows.at(-1), page.exchange.parameters.get(key)),
            ),
          ),
        );
        return found.find((field) => nameOf(field).endsWith("id")) ?? found[0];
      });
      if (moves.length === 0 || !fields.every((field) => field !== undefined)) return [];
      // A single moment moves a filter on; it is no place.
      if (
        set.length === 1 &&
        filterName.test(publicName(set[0] ?? "")) &&
        !/id$/.test(nameOf(fields[0] ?? ""))
      )
        return [];
      const hasFittingName = set.some((key) => names.tokens.test(publicName(key)));
      return [
        {
          style: "cursor" as const,
          keys: set,
          first: 0,
          count: "tokens" as const,
          fields,
          moves: moves.length,
          hasFittingName,
        },
      ];
    });
}

function fieldsWith(row: unknown, value: string | undefined): string[] {
  if (!isObject(row) || value === undefined) return [];
  return [...leavesOf(row)]
    .filter(([, leaf]) => typeof leaf !== "boolean" && scalarText(leaf) === value)
    .map(([pointer]) => pointer);
}
