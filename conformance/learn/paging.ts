/** How the pages of a listing hang together, found in the order in which a connector asked for them. */
import { isObject, leavesOf, nameOf, scalarText } from "./json.ts";
import { leafUrl, type RecordedPage, type Walk } from "./pages.ts";
import { integerOf, publicName, restText, sizeName } from "./parameters.ts";

/** Which parameters say the page, and where their values come from. */
export interface Paging {
  readonly style: "number" | "offset" | "cursor" | "link";
  /** Keys of the parameters that say which page; for a cursor made of the last row's fields one or two. */
  readonly keys: readonly string[];
  /** The first page's number or offset. */
  readonly first: number;
  /** Leaf with the next page's token or URL. */
  readonly next?: string;
  /** How the parameters move when the style is link: numbers and offsets are understood, anything else is a token. */
  readonly count: "pages" | "rows" | "tokens";
  /** Pointers into the last row that give the parameters' values. */
  readonly fields?: readonly string[];
}

export interface Candidate extends Paging {
  /** How many requests it explains. */
  readonly moves: number;
  readonly hasFittingName: boolean;
}

export const names = {
  pages: /page|^p$/i,
  rows: /offset|skip|start|from/i,
  tokens: /cursor|token|after|before|marker|bookmark|continu|scroll|next|start/i,
};
/** Parameters by which newer rows are asked for: not a place in a listing. */
export const filterName =
  /since|gte?\b|_gte?$|updated|modified|changed|created|_from$|^from$|start_?(date|time)|_after$/i;
const startKeysAtMost = 2;

/** Undefined when no request follows from the answer to an earlier one. */
export function findPaging(walks: readonly Walk[], onlyKey?: string): Paging | undefined {
  const pages = walks.flat();
  const allKeys = new Set(pages.flatMap(({ exchange }) => [...exchange.parameters.keys()]));
  const keys = [...allKeys].filter((key) => (onlyKey === undefined ? !key.startsWith("@") : key === onlyKey));
  const candidates = [
    findLink(walks),
    ...keys.flatMap((key) => [
      findCounting(walks, key, "pages"),
      findCounting(walks, key, "rows"),
      findToken(walks, key),
    ]),
    ...findRowFields(walks, keys),
  ].filter((one) => one !== undefined);
  return candidates.sort(
    (one, other) => other.moves - one.moves || Number(other.hasFittingName) - Number(one.hasFittingName),
  )[0];
}

/** The parameter that seems to say the page though no answer explains its values. */
export function findUnexplained(walks: readonly Walk[]): string | undefined {
  const keys = new Set(walks.flat().flatMap(({ exchange }) => [...exchange.parameters.keys()]));
  return [...keys].find((key) => {
    const name = publicName(key).split("/").at(-1) ?? "";
    const isPlace = names.pages.test(name) || names.rows.test(name) || names.tokens.test(name);
    if (key.startsWith("@") || !isPlace || filterName.test(name) || sizeName.test(name)) return false;
    const moves = movesOf(walks, [key]);
    return moves.some(({ page }) => !/^\d{4}-\d{2}/.test(page.exchange.parameters.get(key) ?? ""));
  });
}

export interface Move {
  readonly page: RecordedPage;
  readonly earlier: readonly RecordedPage[];
}

/** Requests that ask for something else than all earlier ones of their walk, in these parameters alone. */
function movesOf(walks: readonly Walk[], keys: readonly string[]): Move[] {
  const isMoving = new Set(keys);
  const valuesOf = ({ exchange }: RecordedPage) => JSON.stringify(keys.map((key) => exchange.parameters.get(key)));
  return walks.flatMap((walk) => {
    const alike = Map.groupBy(walk, ({ exchange }) => restText(exchange.parameters, isMoving)).values();
    return [...alike].flatMap((group) =>
      group.flatMap((page, at) => {
        const earlier = group.slice(0, at);
        const isNew =
          keys.some((key) => page.exchange.parameters.has(key)) &&
          earlier.every((one) => valuesOf(one) !== valuesOf(page));
        return at > 0 && isNew ? [{ page, earlier }] : [];
      }),
    );
  });
}

export function findCounting(walks: readonly Walk[], key: string, count: "pages" | "rows"): Candidate | undefined {
  const moves = movesOf(walks, [key]);
  const values = walks.flat().map(({ exchange }) => integerOf(exchange.parameters, key));
  const known = values.filter((value) => value !== undefined);
  if (moves.length === 0 || known.length === 0) return undefined;
  const smallest = Math.min(...known);
  const usual = count === "pages" ? [1, 0] : [0, 1];
  for (const first of smallest === 0 || smallest === 1 ? [smallest, ...usual] : usual) {
    const isExplained = ({ page, earlier }: Move) => {
      const value = integerOf(page.exchange.parameters, key);
      return earlier.some(({ exchange, rows }) => {
        const before = exchange.parameters.has(key) ? integerOf(exchange.parameters, key) : first;
        return before !== undefined && value === before + (count === "pages" ? 1 : rows.length);
      });
    };
    const explained = moves.filter(isExplained).length;
    if (explained === 0 || explained < moves.length) continue;
    const style = count === "pages" ? "number" : "offset";
    return { style, keys: [key], first, count, moves: explained, hasFittingName: names[count].test(publicName(key)) };
  }
  return undefined;
}

/** Leaves of earlier answers, or parameters in their URLs, that hold the value. */
function tokenSources(page: RecordedPage, key: string, value: string): string[] {
  return [...page.leaves].filter(([, leaf]) => tokenIn(page, leaf, key) === value).map(([name]) => name);
}

/** The token that a leaf holds: itself, or the parameter of that name in its URL. */
export function tokenIn(page: RecordedPage, leaf: unknown, key: string): string | undefined {
  const url = leafUrl(page, leaf);
  if (typeof leaf === "boolean") return undefined;
  return url ? (url.searchParams.get(publicName(key)) ?? undefined) : scalarText(leaf);
}

function findToken(walks: readonly Walk[], key: string): Candidate | undefined {
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
    sources.find((name) => /next/i.test(name)) ?? sources.find((name) => names.tokens.test(nameOf(name))) ?? sources[0];
  if (next === undefined) return undefined;
  const hasFittingName = names.tokens.test(publicName(key));
  return { style: "cursor", keys: [key], first: 0, count: "tokens", next, moves: moves.length, hasFittingName };
}

/** Recordings that begin with a token: an answer of another recording may have handed it out. */
function resumptionsOf(walks: readonly Walk[], key: string): Move[] {
  if (!names.tokens.test(publicName(key)) || filterName.test(publicName(key))) return [];
  return walks.flatMap((walk) => {
    const [page] = walk;
    const others = walks.filter((one) => one !== walk && one[0]?.exchange.url.pathname === page?.exchange.url.pathname);
    return page?.exchange.parameters.has(key) ? [{ page, earlier: others.flat() }] : [];
  });
}

/** Parameters that are fields of the last row of an earlier page. */
function findRowFields(walks: readonly Walk[], keys: readonly string[]): Candidate[] {
  const changing = keys.filter(
    (key) => new Set(walks.flat().map(({ exchange }) => exchange.parameters.get(key))).size > 1,
  );
  const sets = changing.flatMap((key, at) => [[key], ...changing.slice(at + 1).map((other) => [key, other])]);
  return sets
    .filter((set) => set.length <= startKeysAtMost)
    .flatMap((set) => {
      const moves = movesOf(walks, set);
      const fields = set.map((key) => {
        const found = intersect(
          moves.map(({ page, earlier }) =>
            earlier.flatMap(({ rows }) => fieldsWith(rows.at(-1), page.exchange.parameters.get(key))),
          ),
        );
        return found.find((field) => nameOf(field).endsWith("id")) ?? found[0];
      });
      if (moves.length === 0 || !fields.every((field) => field !== undefined)) return [];
      // A single moment moves a filter on; it is no place.
      if (set.length === 1 && filterName.test(publicName(set[0] ?? "")) && !/id$/.test(nameOf(fields[0] ?? "")))
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

/** What all lists have; nothing when there are no lists. */
export function intersect(lists: readonly (readonly string[])[]): string[] {
  const [first = [], ...others] = lists;
  return [...new Set(first)].filter((item) => others.every((list) => list.includes(item)));
}
