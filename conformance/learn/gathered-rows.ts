/** The rows of one listing, put together from the pages of its recordings. */
import { canonicalize, valueAt } from "svc-connectors/host";
import type { ProviderRow } from "../contract/learned.ts";
import { filterText, parseTime } from "./filter.ts";
import { scalarText } from "./json.ts";
import type { Model } from "./model.ts";
import type { RecordedPage } from "./pages.ts";
import { integerOf } from "./parameters.ts";
import { createIdentity } from "./rows.ts";
import { sizeFor } from "./size.ts";
import { tokenIn } from "./token-paging.ts";
import type { RecordedToken } from "./tokens.ts";

/**
 * Pages that one recording holds of a listing with one value of the filter, and where they begin.
 */
export interface PlacedSequence {
  readonly filter: string;
  readonly isFullRead: boolean;
  readonly pages: readonly PlacedPage[];
  /** Rows from the first on, up to the first that is not known. */
  readonly rows: readonly ProviderRow[];
  readonly tokens: readonly RecordedToken[];
}

export interface PlacedPage {
  readonly page: RecordedPage;
  /** Number of rows before it; undefined when the recording does not show it. */
  readonly start: number | undefined;
}

export interface GatheredRows {
  /** The sequence that shows the listing whole. */
  readonly base: PlacedSequence | undefined;
  readonly sequences: readonly PlacedSequence[];
  /** The base's rows, and behind them those that only other recordings have. */
  readonly rows: readonly ProviderRow[];
  readonly tokens: readonly RecordedToken[];
}

export function gatherRows(model: Model, pages: readonly RecordedPage[]): GatheredRows {
  const filterOf = ({ exchange }: RecordedPage) => filterText(model.filter, exchange.parameters);
  const groups = [
    ...Map.groupBy(pages, (page) => `${page.exchange.recording} ${filterOf(page)}`).values(),
  ];
  const place = (some: readonly RecordedPage[], known: readonly RecordedToken[]) =>
    placeSequence(model, some, some[0] ? filterOf(some[0]) : "", known);
  const alone = groups.map((some) => place(some, []));
  const base = alone.toSorted(
    (one, other) => rank(other) - rank(one) || other.rows.length - one.rows.length,
  )[0];
  const sequences = groups.map((some, at) =>
    alone[at] === base && base ? base : place(some, base?.tokens ?? []),
  );

  const windows = model.filter?.upperKey === undefined ? undefined : inOrder(model, sequences);
  const rows = windows ? [] : [...(base?.rows ?? [])];
  const identify = createIdentity(base?.rows ?? []);
  const seen = new Set(rows.map(identify));
  for (const row of (windows ?? sequences).flatMap((sequence) =>
    sequence.pages.flatMap(({ page }) => page.rows),
  )) {
    const identity = identify(row);
    if (!seen.has(identity)) rows.push(row);
    seen.add(identity);
  }
  return { base, sequences, rows, tokens: sequences.flatMap((sequence) => sequence.tokens) };
}

/** Windows of time as their rows stand: full reads first, then the newest where rows are so. */
function inOrder(
  { filter }: Model,
  sequences: readonly PlacedSequence[],
): readonly PlacedSequence[] {
  const timeOf = (row: ProviderRow | undefined) =>
    parseTime(scalarText(valueAt(row, filter?.field ?? "")))?.ms ?? 0;
  const isDescending = sequences.some(
    ({ rows }) => rows.length > 1 && timeOf(rows[0]) > timeOf(rows.at(-1)),
  );
  const beginOf = ({ pages }: PlacedSequence) =>
    parseTime(pages[0]?.page.exchange.parameters.get(filter?.key ?? ""))?.ms ?? 0;
  return sequences.toSorted(
    (one, other) =>
      Number(other.isFullRead) - Number(one.isFullRead) ||
      (isDescending ? beginOf(other) - beginOf(one) : beginOf(one) - beginOf(other)),
  );
}

/** Unfiltered sequences show more than filtered ones, and full reads reach the end. */
const rank = ({ filter, isFullRead }: PlacedSequence) =>
  (filter === "" ? 2 : 0) + (isFullRead ? 1 : 0);

function placeSequence(
  model: Model,
  pages: readonly RecordedPage[],
  filter: string,
  known: readonly RecordedToken[],
): PlacedSequence {
  const tokens: RecordedToken[] = [];
  const rows: ProviderRow[] = [];
  const isFullRead = pages.some(({ exchange }) => exchange.isFullRead);
  const placed = pages.map((page, at) => {
    const isFirst = at === 0 && isFullRead && model.paging?.count === "tokens";
    const start = startOf(model, page, rows, [...tokens, ...known]) ?? (isFirst ? 0 : undefined);
    // Some providers have a word for the beginning: "*".
    const word = isFirst ? page.exchange.parameters.get(model.paging?.keys[0] ?? "") : undefined;
    if (word && start === 0) tokens.push({ text: word, filter, start });
    if (start !== undefined) {
      page.rows.forEach((row, at) => {
        rows[start + at] ??= row;
      });
      tokens.push(
        ...tokensOf(model, page).map((text) => ({ text, filter, start: start + page.rows.length })),
      );
    }
    return { page, start };
  });
  const gap = Array.from(rows, (row) => row === undefined).indexOf(true);
  return { filter, isFullRead, pages: placed, rows: gap < 0 ? rows : rows.slice(0, gap), tokens };
}

function startOf(
  { paging, size }: Model,
  { exchange }: RecordedPage,
  rows: readonly ProviderRow[],
  tokens: readonly RecordedToken[],
) {
  const [key = ""] = paging?.keys ?? [];
  const text = exchange.parameters.get(key);
  if (paging === undefined || text === undefined || text === "" || text === "null") return 0;
  const number = integerOf(exchange.parameters, key);
  if (paging.count === "pages")
    return number === undefined
      ? undefined
      : (number - paging.first) * sizeFor(size, exchange.parameters);
  if (paging.count === "rows") return number === undefined ? undefined : number - paging.first;
  if (paging.fields === undefined) return tokens.find((one) => one.text === text)?.start;
  const { keys, fields } = paging;
  const at = rows.findLastIndex((row) =>
    keys.every(
      (one, index) =>
        scalarText(valueAt(row, fields[index] ?? "")) === exchange.parameters.get(one),
    ),
  );
  return at < 0 ? undefined : at + 1;
}

function tokensOf({ paging }: Model, page: RecordedPage): string[] {
  if (paging?.next === undefined || paging.count !== "tokens") return [];
  const token = tokenIn(page, page.envelope.get(paging.next), paging.keys[0] ?? "");
  return token === undefined || token === "" ? [] : [token];
}

/** Whether the rows are those that the page gives at its position. */
export function holdsPage(rows: readonly ProviderRow[], { page, start }: PlacedPage): boolean {
  if (start === undefined) return false;
  return page.rows.every(
    (row, at) =>
      rows[start + at] !== undefined && canonicalize(rows[start + at]) === canonicalize(row),
  );
}
