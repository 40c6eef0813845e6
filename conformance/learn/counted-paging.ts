/** Pages that are asked for by a number that counts pages or rows. */
import type { PageSequence } from "./pages.ts";
import { type PagingCandidate, pagingNames } from "./paging-candidate.ts";
import { integerOf, publicName } from "./parameters.ts";
import { type Transition, transitionsOf } from "./transitions.ts";

export function findCounting(
  sequences: readonly PageSequence[],
  key: string,
  count: "pages" | "rows",
): PagingCandidate | undefined {
  const transitions = transitionsOf(sequences, [key]);
  const values = sequences.flat().map(({ exchange }) => integerOf(exchange.parameters, key));
  const known = values.filter((value) => value !== undefined);
  if (transitions.length === 0 || known.length === 0) return undefined;
  const smallest = Math.min(...known);
  const usual = count === "pages" ? [1, 0] : [0, 1];
  const possible = smallest === 0 || smallest === 1 ? [smallest, ...usual] : usual;
  const first = possible.find((one) =>
    transitions.every((transition) => isNextNumber(transition, key, count, one)),
  );
  if (first === undefined) return undefined;
  return {
    style: count === "pages" ? "number" : "offset",
    keys: [key],
    first,
    count,
    transitionCount: transitions.length,
    hasFittingName: pagingNames[count].test(publicName(key)),
  };
}

/** Whether the page's number follows that of an earlier page: one more, or its rows more. */
function isNextNumber(
  { page, earlier }: Transition,
  key: string,
  count: "pages" | "rows",
  first: number,
): boolean {
  const value = integerOf(page.exchange.parameters, key);
  return earlier.some(({ exchange, rows }) => {
    const before = exchange.parameters.has(key) ? integerOf(exchange.parameters, key) : first;
    return before !== undefined && value === before + (count === "pages" ? 1 : rows.length);
  });
}
