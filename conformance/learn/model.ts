/**
 * The model of all listings of one kind (same method, origin and path but for the ids of parents):
 * where the rows are, how pages follow one another, how long they are, what filters them.
 */
import type { ConformanceSettings } from "../contract/settings.ts";
import { isSuccess, type RecordedExchange } from "./exchanges.ts";
import { type Filter, findFilter } from "./filter.ts";
import { type RecordedPage, toPage, toSequences } from "./pages.ts";
import { findPaging, findUnexplained } from "./paging.ts";
import type { Paging } from "./paging-candidate.ts";
import { integerOf, keyOfName, publicName } from "./parameters.ts";
import { findRows } from "./rows.ts";
import { findSize, type PageSize } from "./size.ts";
import { findWindows } from "./windows.ts";

export interface Model {
  readonly path: string;
  /** Pointer of the rows. */
  readonly rows: string;
  /** Undefined when there are no further pages. */
  readonly paging: Paging | undefined;
  readonly size: PageSize;
  readonly filter: Filter | undefined;
  /** Name of the parameter that seems to say the page, when there is no paging to explain it. */
  readonly unexplained: string | undefined;
  readonly pages: readonly RecordedPage[];
}

/** Segments that name one thing among many: numbers, UUIDs, long texts with digits. */
const idSegment = /^(\d+|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?=.*\d)[\w~.:@-]{6,})$/i;

/** Requests of one kind together; the ids of parents count as the same. */
export function groupByKind(exchanges: readonly RecordedExchange[]): RecordedExchange[][] {
  const groups = Map.groupBy(exchanges, ({ method, url }) => {
    const segments = url.pathname
      .split("/")
      .map((segment) => (idSegment.test(segment) ? "{}" : segment));
    return `${method} ${url.origin}${segments.join("/")}`;
  });
  return [...groups.values()];
}

/**
 * Undefined when the answers are no listings. `knownModels`: kinds of the same provider of which
 * more is known.
 */
export function learnModel(
  exchanges: readonly RecordedExchange[],
  declared: ConformanceSettings["paging"],
  knownModels: readonly Model[] = [],
): Model | undefined {
  const usable = exchanges.filter((one) => isSuccess(one) && one.tree !== undefined);
  const path = usable[0]?.url.pathname ?? "";
  const settings = usable.map(({ url }) => declared[url.pathname]).find((one) => one !== undefined);
  const rows =
    settings?.rows ??
    findRows(
      usable.map(({ tree }) => tree),
      path,
    );
  if (rows === undefined) return undefined;
  const pages = usable.flatMap((exchange) => toPage(exchange, rows) ?? []);
  if (pages.length === 0 || pages.length < usable.length) return undefined;
  const sequences = toSequences(pages);

  const keyOf = (name: string | undefined) =>
    name === undefined
      ? undefined
      : keyOfName(
          name,
          usable.map(({ parameters }) => parameters),
        );
  const paging = settings
    ? declaredPaging(settings, keyOf(settings.parameter), sequences)
    : (findPaging(sequences) ?? guessPaging(pages) ?? adoptPaging(pages, rows, knownModels));
  const size = findSize(sequences, paging?.keys ?? [], keyOf(settings?.size));
  const ofPages = [...(paging?.keys ?? []), ...(size.key === undefined ? [] : [size.key])];
  const filter = findWindows(pages, ofPages) ?? findFilter(pages, ofPages);
  const unexplained = paging === undefined ? findUnexplained(sequences) : undefined;
  return {
    path,
    rows,
    paging,
    size,
    filter,
    unexplained: unexplained && publicName(unexplained),
    pages,
  };
}

type Declared = ConformanceSettings["paging"][string];

function declaredPaging(
  { style, next }: Declared,
  key: string | undefined,
  sequences: Parameters<typeof findPaging>[0],
): Paging {
  const found = key === undefined ? findPaging(sequences) : findPaging(sequences, key);
  const count = style === "number" ? "pages" : style === "offset" ? "rows" : "tokens";
  const numbers = sequences
    .flat()
    .flatMap(({ exchange }) =>
      key === undefined ? [] : (integerOf(exchange.parameters, key) ?? []),
    );
  const smallest = Math.min(...numbers);
  const first =
    found?.count === count
      ? found.first
      : Number.isFinite(smallest) && smallest <= 1
        ? smallest
        : count === "pages"
          ? 1
          : 0;
  const keys = key === undefined ? (found?.keys ?? []) : [key];
  return {
    style,
    keys,
    first,
    count: style === "link" && found?.style === "link" ? found.count : count,
    next,
    fields: next === undefined ? found?.fields : undefined,
  };
}

/**
 * Paging of listings of which one page each was seen: the parameter's name and its value for a
 * first page say how more would be asked for.
 */
function guessPaging(pages: readonly RecordedPage[]): Paging | undefined {
  const isFirst = (key: string, most: number) =>
    pages.some(({ exchange }) => exchange.parameters.has(key)) &&
    pages.every(({ exchange }) => {
      const value = exchange.parameters.has(key) ? integerOf(exchange.parameters, key) : 0;
      return value !== undefined && value >= 0 && value <= most;
    });
  const firstOf = (key: string) =>
    Math.max(...pages.map(({ exchange }) => integerOf(exchange.parameters, key) ?? 0));
  const keys = [
    ...new Set(pages.flatMap(({ exchange }) => [...exchange.parameters.keys()])),
  ].filter((key) => !key.startsWith("@"));
  const number = keys.find(
    (key) => /^page_?(number|no|num)?$|^p$/i.test(lastName(key)) && isFirst(key, 1),
  );
  if (number !== undefined)
    return { style: "number", keys: [number], first: firstOf(number), count: "pages" };
  const offset = keys.find(
    (key) => /^(offset|skip|start_?(at|index))$/i.test(lastName(key)) && isFirst(key, 0),
  );
  if (offset !== undefined) return { style: "offset", keys: [offset], first: 0, count: "rows" };
  return undefined;
}

/**
 * Paging of listings of which one page each was seen, when it looks like the pages of a listing of
 * the same provider that has several.
 */
function adoptPaging(
  pages: readonly RecordedPage[],
  rows: string,
  knownModels: readonly Model[],
): Paging | undefined {
  return knownModels.find((model) => {
    const { paging, size } = model;
    if (paging === undefined || model.rows !== rows) return false;
    const known = new Set(model.pages.flatMap((page) => [...page.envelope.keys()]));
    return pages.every(({ envelope, exchange }) => {
      const isAsked = size.key !== undefined && exchange.parameters.has(size.key);
      const isSaid = paging.next !== undefined && envelope.has(paging.next);
      return (isAsked || isSaid) && [...envelope.keys()].every((pointer) => known.has(pointer));
    });
  })?.paging;
}

const lastName = (key: string) => publicName(key).split("/").at(-1) ?? "";
