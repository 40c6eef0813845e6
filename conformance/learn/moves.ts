/** Requests that go on from earlier ones: the evidence of how pages hang together. */
import type { RecordedPage, Walk } from "./pages.ts";
import { integerOf, publicName, restText } from "./parameters.ts";

/** Which parameters say the page, and where their values come from. */
export interface Paging {
  readonly style: "number" | "offset" | "cursor" | "link";
  /**
   * Keys of the parameters that say which page; for a cursor made of the last row's fields one or
   * two.
   */
  readonly keys: readonly string[];
  /** The first page's number or offset. */
  readonly first: number;
  /** Leaf with the next page's token or URL. */
  readonly next?: string;
  /**
   * How the parameters move when the style is link: numbers and offsets are understood, anything
   * else is a token.
   */
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

export interface Move {
  readonly page: RecordedPage;
  readonly earlier: readonly RecordedPage[];
}

/**
 * Requests that ask for something else than all earlier ones of their walk, in these parameters
 * alone.
 */
export function movesOf(walks: readonly Walk[], keys: readonly string[]): Move[] {
  const isMoving = new Set(keys);
  const valuesOf = ({ exchange }: RecordedPage) =>
    JSON.stringify(keys.map((key) => exchange.parameters.get(key)));
  return walks.flatMap((walk) => {
    const alike = Map.groupBy(walk, ({ exchange }) =>
      restText(exchange.parameters, isMoving),
    ).values();
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

export function findCounting(
  walks: readonly Walk[],
  key: string,
  count: "pages" | "rows",
): Candidate | undefined {
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
    return {
      style,
      keys: [key],
      first,
      count,
      moves: explained,
      hasFittingName: names[count].test(publicName(key)),
    };
  }
  return undefined;
}

/** What all lists have; nothing when there are no lists. */
export function intersect(lists: readonly (readonly string[])[]): string[] {
  const [first = [], ...others] = lists;
  return [...new Set(first)].filter((item) => others.every((list) => list.includes(item)));
}
