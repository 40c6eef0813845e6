/**
 * Learns how many rows a page has: when a size is asked for, at most, and when none is asked for.
 */
import type { PageSequence, RecordedPage } from "./pages.ts";
import { integerOf, type Parameters, publicName, sizeName } from "./parameters.ts";

export interface PageSize {
  /** Key of the parameter that asks for it. */
  readonly key: string | undefined;
  /** The provider gives no more, whatever is asked for. */
  readonly maxSize: number | undefined;
  /** The provider gives so many when no size is asked for. */
  readonly defaultSize: number;
}

export function findSize(
  sequences: readonly PageSequence[],
  pagingKeys: readonly string[],
  declared?: string,
): PageSize {
  const pages = sequences.flat();
  const key = declared ?? findKey(pages, pagingKeys);
  // A sequence of several pages shows how full a page gets.
  const full = sequences.filter(
    (sequence) =>
      new Set(sequence.map(({ exchange }) => pagingText(exchange.parameters, pagingKeys))).size > 1,
  );
  const asked = (page: RecordedPage) =>
    key === undefined ? undefined : integerOf(page.exchange.parameters, key);
  const longest = (some: readonly RecordedPage[]) =>
    Math.max(0, ...some.map(({ rows }) => rows.length));
  const cut = full.flatMap((sequence) =>
    [...Map.groupBy(sequence, asked)].flatMap(([size, alike]) => {
      const given = longest(alike);
      return size !== undefined && alike.length > 1 && given < size && given > 0 ? [given] : [];
    }),
  );
  const unasked = (some: readonly RecordedPage[]) =>
    longest(some.filter((page) => asked(page) === undefined));
  return {
    key,
    maxSize: cut.length > 0 ? Math.max(...cut) : undefined,
    defaultSize: unasked(full.flat()) || unasked(pages) || longest(pages) || 1,
  };
}

const pagingText = (parameters: Parameters, keys: readonly string[]) =>
  JSON.stringify(keys.map((key) => parameters.get(key)));

function findKey(
  pages: readonly RecordedPage[],
  pagingKeys: readonly string[],
): string | undefined {
  const keys = [...new Set(pages.flatMap(({ exchange }) => [...exchange.parameters.keys()]))];
  const candidates = keys.filter((key) => {
    const values = pages.flatMap(({ exchange }) =>
      exchange.parameters.has(key) ? [integerOf(exchange.parameters, key)] : [],
    );
    return (
      !pagingKeys.includes(key) &&
      !key.startsWith("@") &&
      values.every((value) => value !== undefined && value > 0)
    );
  });
  const named = candidates.find((key) => sizeName.test(publicName(key).split("/").at(-1) ?? ""));
  return named ?? candidates.find((key) => isLengthOfPages(pages, key));
}

/** Whether several pages are as long as the parameter says, and none is longer. */
function isLengthOfPages(pages: readonly RecordedPage[], key: string): boolean {
  const sizes = pages.flatMap((page) => {
    const asked = integerOf(page.exchange.parameters, key);
    return asked === undefined ? [] : [{ asked, given: page.rows.length }];
  });
  const fullCount = sizes.filter(({ asked, given }) => asked === given).length;
  return fullCount > 1 && sizes.every(({ asked, given }) => given <= asked);
}

/** Number of rows of a full page for a request. */
export function sizeFor(
  { key, maxSize, defaultSize }: PageSize,
  parameters: Parameters,
  changedMaxSize?: number,
): number {
  const asked = key === undefined ? undefined : integerOf(parameters, key);
  const size = asked !== undefined && asked > 0 ? Math.min(asked, maxSize ?? asked) : defaultSize;
  return Math.max(1, Math.min(size, changedMaxSize ?? size));
}
