/** Secrets in the texts of a column, as they lie one behind another. */
import { foldedTexts, type TextRows } from "./folding.ts";
import type { Range } from "./scanner.ts";
import { holds, holdsEscaped, type Search } from "./search.ts";
import { longestExactBytes } from "./short-secrets.ts";

/**
 * Rows with a run of a secret, or a part of one that goes on in the next row: nothing stands
 * between two texts, so that a secret in pieces is whole again.
 */
export function rowsOfRuns({ scanner }: Search, texts: TextRows): number[] {
  return scanner.find(texts.bytes).flatMap((range) => rowsOf(texts, range));
}

/** Rows with a secret that is short, or stands under escapes, each in a text alone. */
export function rowsOfOthers(search: Search, texts: TextRows): number[] {
  return [...rowsOfShort(search, texts), ...rowsOfEscapes(search, texts)];
}

/** Rows with a secret that is short. */
export function rowsOfShort(search: Search, texts: TextRows): number[] {
  const { short } = search;
  const hasShort = (row: number) => short.find(textOf(texts, row).toString()).length > 0;
  return [...rowsOfValues(search, texts), ...rowsOfNeedles(search, texts).filter(hasShort)];
}

/** As {@link rowsOfOthers}, of JSON: rows that have to be taken apart to know it. */
export function rowsOfOthersInJson(search: Search, texts: TextRows): number[] {
  return [...rowsOfNeedles(search, texts), ...rowsOfEscapes(search, texts)];
}

export const textOf = ({ bytes, offsets }: TextRows, row: number): Buffer =>
  bytes.subarray(offsets[row], offsets[row + 1]);

/** Texts without a byte are touched by nothing. */
function rowsOf({ offsets }: TextRows, { start, end }: Range): number[] {
  const rows: number[] = [];
  for (let row = rowAt(offsets, start); (offsets[row] as number) < end; row++)
    if (offsets[row] !== offsets[row + 1]) rows.push(row);
  return rows;
}

/** The row whose text has the byte at this position. */
function rowAt(offsets: Uint32Array, position: number): number {
  let low = 0;
  let high = offsets.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((offsets[middle] as number) <= position) low = middle;
    else high = middle;
  }
  return low;
}

/** The rows that are a short secret and nothing else but white space. */
function rowsOfValues({ short: { values } }: Search, texts: TextRows): number[] {
  if (values.size === 0) return [];
  const lengths = new Set([...values].map((value) => Buffer.byteLength(value)));
  const { offsets, rowCount, bytes } = texts;
  const rows: number[] = [];
  for (let row = 0; row < rowCount; row++) {
    const from = offsets[row] as number;
    const length = (offsets[row + 1] as number) - from;
    if (length === 0 || length > longestExactBytes) continue;
    const mayBeTrimmed =
      isSpace(bytes[from] as number) || isSpace(bytes[from + length - 1] as number);
    if (!mayBeTrimmed && !lengths.has(length)) continue;
    if (values.has(textOf(texts, row).toString().trim())) rows.push(row);
  }
  return rows;
}

/** White space, or a byte of some that is not ASCII. */
const isSpace = (byte: number) => byte <= 0x20 || byte >= 0x80;

function rowsOfNeedles({ short }: Search, texts: TextRows): number[] {
  const { bytes, offsets } = texts;
  const candidates = new Set<number>();
  for (const needle of short.needles) {
    for (let at = bytes.indexOf(needle); at !== -1; ) {
      const row = rowAt(offsets, at);
      candidates.add(row);
      at = bytes.indexOf(needle, offsets[row + 1]);
    }
  }
  return [...candidates];
}

function rowsOfEscapes(search: Search, texts: TextRows): number[] {
  const pieces = foldedTexts(texts, search.alphabet, search.scanner.longestMinimum);
  if (!pieces.some((piece) => holds(search, piece))) return [];
  const rows = Array.from({ length: texts.rowCount }, (_, row) => row);
  return rows.filter((row) => holdsEscaped(search, textOf(texts, row)));
}
