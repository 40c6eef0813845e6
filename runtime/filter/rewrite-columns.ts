/** Copies of columns with other values in some rows. */
import type { Column, TextValues } from "../contract/batch.ts";
import { encodings } from "../wire/columns/encodings.ts";

/** Row to its new text; undefined is null. */
export type NewTexts = ReadonlyMap<number, Uint8Array | undefined>;

/** The column with these texts. */
export function withTexts<Texts extends Column & TextValues>(
  column: Texts,
  rowCount: number,
  texts: NewTexts,
): Texts {
  const { bytes, offsets } = column;
  const pieces: Uint8Array[] = [];
  const ends = new Uint32Array(rowCount + 1);
  let length = 0;
  let kept = 0;
  const add = (piece: Uint8Array) => {
    if (piece.length > 0) pieces.push(piece);
    length += piece.length;
  };
  for (let row = 0; row < rowCount; row++) {
    const end = offsets[row + 1] as number;
    if (texts.has(row)) {
      add(bytes.subarray(kept, offsets[row]));
      add(texts.get(row) ?? new Uint8Array(0));
      kept = end;
    }
    ends[row + 1] = length + end - kept;
  }
  add(bytes.subarray(kept, offsets[rowCount]));
  const nulls = [...texts].filter(([, text]) => text === undefined).map(([row]) => row);
  return {
    ...column,
    validity: withNulls(column.validity, rowCount, nulls),
    offsets: ends,
    bytes: Buffer.concat(pieces),
  };
}

/** The column without the values of these rows. */
export function withoutValues(column: Column, rowCount: number, rows: readonly number[]): Column {
  if ("offsets" in column)
    return withTexts(column, rowCount, new Map(rows.map((row) => [row, undefined])));
  const values = column.values.slice();
  const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  const { width } = encodings[column.encoding];
  for (const row of rows) bytes.fill(0, row * width, (row + 1) * width);
  const validity = withNulls(column.validity, rowCount, rows);
  return { ...column, validity, values } as Column;
}

function withNulls(
  validity: Uint8Array | undefined,
  rowCount: number,
  rows: readonly number[],
): Uint8Array | undefined {
  if (rows.length === 0) return validity;
  const bits = validity?.slice() ?? allValid(rowCount);
  for (const row of rows) bits[row >> 3] = (bits[row >> 3] as number) & ~(1 << (row & 7));
  return bits;
}

function allValid(rowCount: number): Uint8Array {
  const bits = new Uint8Array((rowCount + 7) >> 3).fill(0xff);
  if ((rowCount & 7) !== 0) bits[rowCount >> 3] = (1 << (rowCount & 7)) - 1;
  return bits;
}
