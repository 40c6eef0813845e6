/** Positions in a listing: where a page begins, and how requests and answers write it. */
import { canonicalize, valueAt } from "svc-connectors/host";
import type { ProviderRow } from "../contract/learned.ts";
import { scalarText } from "./json.ts";
import type { Paging } from "./paging-candidate.ts";
import { type Parameters, toInteger } from "./parameters.ts";
import type { Tokens } from "./tokens.ts";

export interface PagePosition {
  /** Number of rows before it. */
  readonly start: number;
  /** Number of pages before it that came without rows though more followed. */
  readonly skipped: number;
}

/** The listing as it is while one request is answered: positions are read and written with it. */
export interface ListingContext {
  /** Rows that can be reached. */
  readonly rows: readonly ProviderRow[];
  readonly size: number;
  /** Indexes of pages that come without rows. */
  readonly emptyPages: readonly number[];
  /** Value of the filter; "" without one. */
  readonly filter: string;
  readonly tokens: Tokens;
}

export const pageIndex = ({ start, skipped }: PagePosition, size: number) =>
  Math.floor(start / size) + skipped;

/** Values of the parameters that ask for the page there. */
export function writePosition(
  paging: Paging,
  position: PagePosition,
  context: ListingContext,
): ReadonlyMap<string, string> {
  const [key = ""] = paging.keys;
  if (paging.count === "pages")
    return new Map([[key, String(paging.first + pageIndex(position, context.size))]]);
  if (paging.count === "rows") return new Map([[key, String(paging.first + position.start)]]);
  if (paging.fields === undefined) return new Map([[key, context.tokens.write(position, context)]]);
  const row = context.rows[position.start - 1];
  return new Map(
    paging.keys.map((one, at) => [one, scalarText(valueAt(row, paging.fields?.[at] ?? "")) ?? ""]),
  );
}

/** The position that a request asks for; undefined when its parameters name none. */
export function readPosition(
  paging: Paging,
  parameters: Parameters,
  context: ListingContext,
): PagePosition | undefined {
  const [key = ""] = paging.keys;
  const text = parameters.get(key);
  if (text === undefined || text === "" || text === "null") return { start: 0, skipped: 0 };
  if (paging.count === "tokens")
    return paging.fields === undefined
      ? context.tokens.read(text, context)
      : afterRow(paging, parameters, context);
  const number = toInteger(text);
  if (number === undefined || number < paging.first) return undefined;
  if (paging.count === "rows") return { start: number - paging.first, skipped: 0 };
  const index = number - paging.first;
  const skipped = context.emptyPages.filter((one) => one < index).length;
  return { start: (index - skipped) * context.size, skipped };
}

/** The position behind the last row that has these values. */
function afterRow(
  { keys, fields = [] }: Paging,
  parameters: Parameters,
  { rows, tokens }: ListingContext,
): PagePosition | undefined {
  const isNamed = (row: ProviderRow) =>
    keys.every((key, at) => scalarText(valueAt(row, fields[at] ?? "")) === parameters.get(key));
  const at = rows.findLastIndex(isNamed);
  if (at >= 0) return { start: at + 1, skipped: 0 };
  return tokens.recall(JSON.stringify(keys.map((key) => parameters.get(key))), rows);
}

/**
 * The number of rows after which to go on when rows have changed since a page of them was given:
 * behind the last of its rows, or of those before it, that is still there.
 */
export function relocate(
  before: readonly ProviderRow[],
  end: number,
  now: readonly ProviderRow[],
): number {
  if (
    before === now ||
    (before.length === now.length && before.every((row, at) => row === now[at]))
  )
    return end;
  const texts = now.map(textOf);
  if (before.length === now.length && before.every((row, at) => textOf(row) === texts[at]))
    return end;
  const positions = new Map(texts.map((text, at) => [text, at]));
  for (const row of before.slice(0, end).toReversed()) {
    const position = positions.get(textOf(row));
    if (position !== undefined) return position + 1;
  }
  return 0;
}

/** Of rows that are looked at again for each page. */
const texts = new WeakMap<ProviderRow, string>();

function textOf(row: ProviderRow): string {
  const text = texts.get(row) ?? canonicalize(row);
  texts.set(row, text);
  return text;
}
