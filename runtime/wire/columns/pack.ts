/** A batch as the payload of a frame. The host takes it apart in runtime/batches/inspect.ts. */
import type { Batch, Column, RowNote } from "../../contract/batch.ts";
import { align8, columnHeadBytes, encodings, headBytes } from "./encodings.ts";

/** Rows of a batch that become one frame. */
export interface RowRange {
  readonly from: number;
  readonly to: number;
}

/** Bytes of the payload, with notes of so many bytes. */
export function packedBytes(
  { columns }: Batch,
  { from, to }: RowRange,
  notesBytes: number,
): number {
  let bytes = headBytes + align8(columns.length * columnHeadBytes) + align8(notesBytes);
  for (const column of columns) {
    if (column.validity) bytes += align8((to - from + 7) >> 3);
    if ("offsets" in column) {
      bytes += align8((to - from + 1) * 4) + align8(textBytes(column.offsets, { from, to }));
    } else bytes += align8((to - from) * encodings[column.encoding].width);
  }
  return bytes;
}

const textBytes = (offsets: Uint32Array, { from, to }: RowRange) =>
  (offsets[to] as number) - (offsets[from] as number);

/** The notes of these rows as JSON: `[[row, field, …], …]`; empty when there are none. */
export function packNotes(notes: readonly RowNote[], { from, to }: RowRange): Buffer {
  const own = notes.filter(({ row }) => row >= from && row < to);
  if (own.length === 0) return Buffer.alloc(0);
  return Buffer.from(JSON.stringify(own.map(({ row, fields }) => [row - from, ...fields])));
}

/** Writes the payload; `into` has {@link packedBytes}. */
export function packBatch(
  { columns }: Batch,
  range: RowRange,
  notes: Buffer,
  into: Uint8Array,
): void {
  const { from, to } = range;
  const head = new DataView(into.buffer, into.byteOffset, into.byteLength);
  head.setUint32(0, to - from, true);
  head.setUint32(4, columns.length, true);
  head.setUint32(8, notes.length, true);
  head.setUint32(12, 0, true);
  let at = headBytes;
  for (const column of columns) {
    head.setUint8(at, encodings[column.encoding].id);
    head.setUint8(at + 1, column.validity ? 1 : 0);
    head.setUint8(at + 2, "scale" in column ? column.scale : 0);
    head.setUint8(at + 3, 0);
    head.setUint32(at + 4, "offsets" in column ? textBytes(column.offsets, range) : 0, true);
    at += columnHeadBytes;
  }
  at = padded(into, at);
  const put = (part: Uint8Array) => {
    into.set(part, at);
    at = padded(into, at + part.length);
  };
  for (const column of columns) {
    if (column.validity) {
      putBits(into, at, column.validity, range);
      at = padded(into, at + ((to - from + 7) >> 3));
    }
    if ("offsets" in column) {
      const start = column.offsets[from] as number;
      for (let row = from; row <= to; row++)
        head.setUint32(at + (row - from) * 4, (column.offsets[row] as number) - start, true);
      at = padded(into, at + (to - from + 1) * 4);
      put(column.bytes.subarray(start, column.offsets[to]));
    } else put(fixedBytes(column, range));
  }
  put(notes);
}

function fixedBytes(column: Exclude<Column, { offsets: Uint32Array }>, { from, to }: RowRange) {
  const { values, encoding } = column;
  const { width } = encodings[encoding];
  return new Uint8Array(values.buffer, values.byteOffset + from * width, (to - from) * width);
}

/** Fills up to the next section with zeros. */
function padded(into: Uint8Array, at: number): number {
  const end = align8(at);
  for (let byte = at; byte < end; byte++) into[byte] = 0;
  return end;
}

/** Bits of these rows, with zeros beyond the last one. */
function putBits(into: Uint8Array, at: number, validity: Uint8Array, { from, to }: RowRange): void {
  const bytes = (to - from + 7) >> 3;
  const first = from >> 3;
  const shift = from & 7;
  if (shift === 0) into.set(validity.subarray(first, first + bytes), at);
  else
    for (let index = 0; index < bytes; index++) {
      const next = (validity[first + index + 1] ?? 0) << (8 - shift);
      into[at + index] = ((validity[first + index] as number) >> shift) | next;
    }
  const rest = (to - from) & 7;
  const last = at + bytes - 1;
  if (rest !== 0) into[last] = (into[last] as number) & ((1 << rest) - 1);
}

/** Rows of one frame at most: four of DuckDB's vectors. */
export const maxBatchRows = 8192;
/** Bytes of one frame of several rows, about. */
const frameBytes = 1024 * 1024 - 64;

/** Bytes of the notes of one frame at most, about: their budget is a MiB. */
const notesBytes = 960 * 1024;

/** The batch in ranges that make frames of a good size; a row is never cut. */
export function* batchRanges(batch: Batch): Generator<RowRange, void, undefined> {
  const noteEnds = endsOfNotes(batch);
  const isTooLarge = (range: RowRange) =>
    packedBytes(batch, range, 0) > frameBytes ||
    (noteEnds !== undefined &&
      (noteEnds[range.to] as number) - (noteEnds[range.from] as number) > notesBytes);
  for (let from = 0; from < batch.rowCount; ) {
    let rows = Math.min(maxBatchRows, batch.rowCount - from);
    // To a multiple of 8 while there are many: validity bits are then copied by bytes.
    while (rows > 1 && isTooLarge({ from, to: from + rows }))
      rows = rows >= 16 ? (rows >> 1) & ~7 : rows >> 1;
    yield { from, to: from + rows };
    from += rows;
  }
}

/** The bytes of the notes of all rows before each row, about; undefined where there are none. */
function endsOfNotes({ notes, rowCount }: Batch): Float64Array | undefined {
  if (notes.length === 0) return undefined;
  const ends = new Float64Array(rowCount + 1);
  // Brackets, commas and the row's number.
  for (const { row, fields } of notes)
    ends[row + 1] = Buffer.byteLength(JSON.stringify(fields)) + 12;
  for (let row = 0; row < rowCount; row++)
    ends[row + 1] = (ends[row] as number) + (ends[row + 1] as number);
  return ends;
}
