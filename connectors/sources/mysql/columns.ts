/**
 * Rows of the server as columns: texts one after another, as they come, or as their type has them.
 */
import { type Batch, type BatchField, ConnectorError, type RowNote } from "svc-connectors";
import { textEncodings } from "svc-connectors/database";
import type { Encode } from "./types.ts";

/** A property of the stream, and the field of the rows that fills it. */
export interface FilledField {
  readonly field: BatchField;
  /** Its place among the fields; undefined: the table has no such column any more. */
  readonly place?: number | undefined;
  /** Undefined: the column is of a type that cannot fill it. */
  readonly encode?: Encode | undefined;
}

export interface BatchBuilder {
  readonly rowCount: number;
  readonly bytes: number;
  /** False: it is full, and the row belongs to the next one. @throws RECORD_INVALID */
  add(fields: readonly (Buffer | null)[]): boolean;
  /** The rows so far. Valid until others are added. */
  take(): Batch;
}

/** Rows of a batch at most: four vectors of DuckDB. */
const maxBatchRows = 8_192;
/** Bytes of a batch of several rows, about: a frame of the wire has a MiB. */
const batchBytes = 960 * 1024;
/** Most notes that a row may have. */
const maxNotesPerRow = 20;
const offsetBytes = Uint32Array.BYTES_PER_ELEMENT;

export function createBatchBuilder(
  filled: readonly FilledField[],
  wantedRows: number,
): BatchBuilder {
  const perRow = Math.max(1, filled.length * offsetBytes);
  const maxRows = Math.max(1, Math.min(wantedRows, maxBatchRows, Math.floor(batchBytes / perRow)));
  const columns = filled.map(({ field, place, encode }) => ({
    field,
    place,
    encode,
    values: createTexts(maxRows),
  }));
  let notes: RowNote[] = [];
  let rowCount = 0;
  let bytes = 0;
  let isTaken = false;

  return {
    get rowCount() {
      return isTaken ? 0 : rowCount;
    },
    get bytes() {
      return bytes;
    },
    add(fields) {
      if (isTaken) {
        for (const { values } of columns) values.clear();
        [notes, rowCount, bytes, isTaken] = [[], 0, 0, false];
      }
      let rowBytes = perRow;
      for (const { place } of columns)
        if (place !== undefined) rowBytes += fields[place]?.length ?? 0;
      if (rowCount > 0 && (rowCount >= maxRows || bytes + rowBytes > batchBytes)) return false;
      const lost: string[] = [];
      for (const { field, place, encode, values } of columns) {
        const value = place === undefined ? null : (fields[place] ?? null);
        const encoded = value === null ? null : encode?.(value);
        if (encoded === undefined && field.isKey) throw unusableKey(field.name);
        if (encoded === undefined && lost.length < maxNotesPerRow) lost.push(field.name);
        values.add(encoded ?? null);
      }
      if (lost.length > 0) notes.push({ row: rowCount, fields: lost });
      rowCount++;
      bytes += rowBytes;
      return true;
    },
    take() {
      isTaken = true;
      return {
        rowCount,
        notes,
        columns: columns.map(({ field, values }) => ({
          ...field,
          encoding: textEncodings[field.kind],
          ...values.get(),
        })),
      };
    },
  };
}

const unusableKey = (name: string) =>
  new ConnectorError("RECORD_INVALID", {
    problem: `the key ${name} has a value that is none of its type, such as a date of zeros`,
  });

/** Texts of so many rows at most. Memory is used again. */
function createTexts(maxRows: number) {
  const offsets = new Uint32Array(maxRows + 1);
  const validity = new Uint8Array((maxRows + 7) >> 3).fill(0xff);
  let bytes = Buffer.allocUnsafeSlow(256);
  let count = 0;
  let length = 0;
  let hasNull = false;
  return {
    add(value: Buffer | string | null) {
      if (value === null) {
        hasNull = true;
        validity[count >> 3] = (validity[count >> 3] as number) & ~(1 << (count & 7));
      } else {
        const size = typeof value === "string" ? Buffer.byteLength(value) : value.length;
        if (length + size > bytes.length) {
          const larger = Buffer.allocUnsafeSlow(Math.max(bytes.length * 2, length + size));
          bytes.copy(larger, 0, 0, length);
          bytes = larger;
        }
        if (typeof value === "string") bytes.write(value, length);
        else bytes.set(value, length);
        length += size;
      }
      offsets[++count] = length;
    },
    get: () => ({
      offsets: offsets.subarray(0, count + 1),
      bytes: bytes.subarray(0, length),
      ...(hasNull ? { validity: validity.subarray(0, (count + 7) >> 3) } : {}),
    }),
    clear() {
      if (hasNull) validity.fill(0xff);
      // The memory that one large row took is not kept for all.
      if (bytes.length > batchBytes) bytes = Buffer.allocUnsafeSlow(256);
      [count, length, hasNull] = [0, 0, false];
    },
  };
}
