/**
 * Transitions from earlier pages to another one: the evidence of how the pages of a listing follow
 * one another.
 */
import type { PageSequence, RecordedPage } from "./pages.ts";
import { restText } from "./parameters.ts";

export interface Transition {
  readonly page: RecordedPage;
  readonly earlier: readonly RecordedPage[];
}

/**
 * Requests that ask for something else than all earlier ones of their sequence, in these parameters
 * alone.
 */
export function transitionsOf(
  sequences: readonly PageSequence[],
  keys: readonly string[],
): Transition[] {
  const varying = new Set(keys);
  const valuesOf = ({ exchange }: RecordedPage) =>
    JSON.stringify(keys.map((key) => exchange.parameters.get(key)));
  return sequences.flatMap((sequence) => {
    const alike = Map.groupBy(sequence, ({ exchange }) =>
      restText(exchange.parameters, varying),
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

/** The items that all lists have; none when there are no lists. */
export function intersect(lists: readonly (readonly string[])[]): string[] {
  const [first = [], ...others] = lists;
  return [...new Set(first)].filter((item) => others.every((list) => list.includes(item)));
}
