/**
 * Formulas for the values that a page can have in its envelope: its number, its size, the next
 * page's token, the number of rows in all, …
 */
import type { Parameters } from "./parameters.ts";

/** One page as it is given. */
export interface PageView {
  readonly url: URL;
  readonly parameters: Parameters;
  /** Number of rows before it. */
  readonly start: number;
  readonly count: number;
  /** Number of rows of a full page. */
  readonly size: number;
  /** Number of rows of the listing. */
  readonly total: number;
  /** From 0. */
  readonly index: number;
  /** At least 1. */
  readonly pageCount: number;
  readonly hasMore: boolean;
  /** Number or offset of the first page. */
  readonly first: number;
  /**
   * Parameters of other pages; undefined where there is no such page. `after` is what follows, also
   * after the last page.
   */
  parametersOf(which: PageRelation): ReadonlyMap<string, string> | undefined;
}

export type PageRelation = "next" | "after" | "previous" | "first" | "last" | "self";

export interface Formula {
  readonly name: string;
  /**
   * Names of values that mean this; a value that never changes is taken for it only with such a
   * name.
   */
  readonly hint: RegExp;
  /**
   * Undefined where there is no such value: before the first page, after the last, on an empty one.
   */
  value(page: PageView): string | number | boolean | undefined;
}

const tokenText = (parameters: ReadonlyMap<string, string> | undefined) =>
  parameters?.values().next().value;
const target = (name: string, hint: RegExp, which: PageRelation): Formula => ({
  name,
  hint,
  value: (page) => tokenText(page.parametersOf(which)),
});

/** In order: the first that fits is taken. Names are compared in lower case without `_` and `-`. */
export const formulas: readonly Formula[] = [
  target("next page's parameter", /next|cursor|token|after|marker/, "next"),
  target("what follows", /next|cursor|token|after|marker/, "after"),
  target("previous page's parameter", /prev|before/, "previous"),
  target(
    "this page's parameter",
    /^(current|this)?page(number|index|no)?$|^current|^number$|offset|^start|skip|self/,
    "self",
  ),
  target("last page's parameter", /lastpage|pagecount|^pages$|totalpages|^last$/, "last"),
  { name: "has more", hint: /more|hasnext|^next/, value: ({ hasMore }) => hasMore },
  {
    name: "is last",
    hint: /last|end|final|complete|done|finish/,
    value: ({ hasMore }) => !hasMore,
  },
  { name: "has previous", hint: /hasprev/, value: ({ index }) => index > 0 },
  { name: "is first", hint: /isfirst|^first/, value: ({ index }) => index === 0 },
  {
    name: "rows in all",
    hint: /total(?!pages)|found|resultcount|^count$|totalcount|totalsize|records/,
    value: ({ total }) => total,
  },
  {
    name: "number of pages",
    hint: /pages|lastpage|pagecount/,
    value: ({ pageCount }) => pageCount,
  },
  {
    name: "index of the last page",
    hint: /lastpage|^last$/,
    value: ({ pageCount }) => pageCount - 1,
  },
  {
    name: "rows here",
    hint: /count|returned|length|numresults|^size$|elements/,
    value: ({ count }) => count,
  },
  {
    name: "page size",
    hint: /size|limit|perpage|pagelen|^count$|take|itemsperpage/,
    value: ({ size }) => size,
  },
  {
    name: "number of the page",
    hint: /^(current|this)?page(number|no)?$|^current|^number$/,
    value: ({ index }) => index + 1,
  },
  {
    name: "index of the page",
    hint: /^(current|this)?page(index)?$|^current|^number$|index/,
    value: ({ index }) => index,
  },
  {
    name: "next page's number",
    hint: /next/,
    value: ({ index, hasMore }) => (hasMore ? index + 2 : undefined),
  },
  {
    name: "next page's index",
    hint: /next/,
    value: ({ index, hasMore }) => (hasMore ? index + 1 : undefined),
  },
  {
    name: "previous page's number",
    hint: /prev/,
    value: ({ index }) => (index > 0 ? index : undefined),
  },
  {
    name: "first row",
    hint: /from|start|first|offset/,
    value: ({ start, count }) => (count > 0 ? start + 1 : undefined),
  },
  {
    name: "last row",
    hint: /^to$|end|last|until/,
    value: ({ start, count }) => (count > 0 ? start + count : undefined),
  },
  { name: "offset", hint: /offset|start|from|skip/, value: ({ start }) => start },
  {
    name: "offset of what follows",
    hint: /offset|next|end/,
    value: ({ start, count }) => start + count,
  },
  {
    name: "next offset",
    hint: /next/,
    value: ({ start, count, hasMore }) => (hasMore ? start + count : undefined),
  },
  {
    name: "index of the last row",
    hint: /end|last|^to$/,
    value: ({ start, count }) => (count > 0 ? start + count - 1 : undefined),
  },
  {
    name: "rows that remain",
    hint: /remain|left/,
    value: ({ start, count, total }) => Math.max(0, total - start - count),
  },
];

/** The request's own parameter, said back. */
export function echoOf(key: string): Formula {
  const name = key.slice(1).split("/").at(-1)?.toLowerCase().replaceAll(/[_-]/g, "") ?? "";
  return {
    name: `parameter ${key.slice(1)}`,
    hint: new RegExp(`^${name.replaceAll(/[^a-z0-9]/g, ".")}$`),
    value: ({ parameters }) => parameters.get(key),
  };
}
