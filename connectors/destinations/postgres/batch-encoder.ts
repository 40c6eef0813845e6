/**
 * Batches as the binary format of COPY. A column whose type cannot hold its values gets a wider one
 * first.
 * @see https://www.postgresql.org/docs/current/sql-copy.html (binary format)
 */
import { ConnectorError } from "svc-connectors";
import { type Batch, type BatchColumn, noteOf } from "svc-connectors/destination";
import { type BinaryColumn, type Changed, constantFields, nullColumn } from "./binary-columns.ts";
import { createBinaryRows } from "./binary-rows.ts";
import { binaryColumn, jsonTexts, type ServerTypes } from "./binary-values.ts";
import type { Column } from "./columns.ts";
import { GrowingBytes } from "./growing-bytes.ts";
import type { RowIds } from "./row-ids.ts";
import type { Rows } from "./rows.ts";
import { type ColumnType, cleanJson, integerTypes } from "./types.ts";

export interface BatchEncoder {
  /** @param extractedAtMs of all rows of the batch */
  encode(batch: Batch, extractedAtMs: number): Rows;
}

export interface BatchEncoderOptions {
  /** In the order of the COPY, before the four own columns. Types are widened on the spot. */
  readonly columns: readonly Column[];
  readonly jobId: string;
  readonly ids: RowIds;
  readonly server: ServerTypes;
}

export function createBatchEncoder({
  columns,
  jobId,
  ids,
  server,
}: BatchEncoderOptions): BatchEncoder {
  /** The same for all rows of a batch: when it was extracted, and its job. */
  const shared = sharedFields(jobId);
  /** The places of a batch's columns in the table; the schema's order is that of the batch. */
  const placed = (batch: Batch): (BatchColumn | undefined)[] => {
    const byName = new Map(batch.columns.map((column) => [column.name, column]));
    return columns.map(({ property }) => byName.get(property));
  };
  return {
    encode(batch, extractedAtMs) {
      const { rowCount } = batch;
      const types: ColumnType[] = [];
      let nulledCount = 0;
      const changes = notedChanges(batch);
      const filled = placed(batch).map((column, index) => {
        const { type } = columns[index] as Column;
        if (column === undefined) {
          types.push(type);
          return nullColumn;
        }
        const [written, as] = writtenAs(column, typeFor(column, type, rowCount), rowCount, server);
        types.push(as);
        for (const [row, change] of written.changed) {
          addChange(changes, row, changeOf(column.name, change));
          if (change === "NULLED") nulledCount++;
        }
        return written;
      });
      const meta = changesColumn(changes, rowCount);
      const fields = [...filled, ids, shared.at(extractedAtMs), meta];
      const sizes = new Uint32Array(rowCount);
      const ofEach = fields.reduce((sum, field) => sum + field.measure(sizes), 0);
      const rows = createBinaryRows(sizes, ofEach, columns.length + ownFields);
      for (const field of fields) field.fill(rows);
      columns.forEach((column, index) => {
        column.type = types[index] ?? column.type;
      });
      return { bytes: rows.bytes, types, nulledCount };
    },
  };
}

/** `_svc_id`, `_svc_extracted_at`, `_svc_job_id` and `_svc_meta`. */
const ownFields = 4;

/** A column as the type, or as text, which takes every value. */
function writtenAs(
  column: BatchColumn,
  type: ColumnType,
  rowCount: number,
  server: ServerTypes,
): readonly [BinaryColumn, ColumnType] {
  const written = binaryColumn(column, type, rowCount, server);
  if (written) return [written, type];
  const text = binaryColumn(column, "text", rowCount, server);
  if (!text) throw new ConnectorError("INTERNAL");
  return [text, "text"];
}

function sharedFields(jobId: string) {
  const job = Buffer.from(jobId.replaceAll("\0", "\ufffd"));
  const bytes = Buffer.alloc(4 + 8 + 4 + job.length);
  bytes.writeInt32BE(8, 0);
  bytes.writeInt32BE(job.length, 12);
  job.copy(bytes, 16);
  return {
    at(ms: number) {
      // Microseconds since 2000, like any instant.
      bytes.writeBigInt64BE(BigInt(ms - Date.UTC(2000, 0, 1)) * 1_000n, 4);
      return constantFields(bytes);
    },
  };
}

/** Rows have changes in the order of notes first, then of columns. */
type Changes = Map<number, Change[]>;

const notedChanges = ({ notes }: Batch): Changes =>
  new Map(notes.map(({ row, fields }) => [row, fields.map((field) => noteOf(field))]));

function addChange(changes: Changes, row: number, change: Change): void {
  const before = changes.get(row);
  if (before) before.push(change);
  else changes.set(row, [change]);
}

/** `_svc_meta`. */
function changesColumn(changes: Changes, rowCount: number): BinaryColumn {
  if (changes.size === 0) return nullColumn;
  const validity = new Uint8Array((rowCount + 7) >> 3);
  const offsets = new Uint32Array(rowCount + 1);
  const texts = new GrowingBytes(changes.size * 128);
  for (let row = 0; row < rowCount; row++) {
    const ofRow = changes.get(row);
    if (ofRow) {
      texts.append(Buffer.from(cleanJson(JSON.stringify({ changes: ofRow }))));
      validity[row >> 3] = (validity[row >> 3] as number) | (1 << (row & 7));
    }
    offsets[row + 1] = texts.length;
  }
  return jsonTexts({ validity, offsets, bytes: texts.bytes });
}

/** AirbyteRecordMessageMeta's word for what became of a value. */
interface Change {
  readonly field: string;
  readonly change: "NULLED" | "REPLACED";
  readonly reason: string;
}
const changeOf = (field: string, change: Changed): Change =>
  change === "NULLED"
    ? noteOf(field)
    : { field, change, reason: "DESTINATION_SERIALIZATION_ERROR" };

/** The type of the column, or a wider one that holds these values too. */
function typeFor(column: BatchColumn, type: ColumnType, rowCount: number): ColumnType {
  const { encoding } = column;
  const place = integerTypes.indexOf(type);
  if (place === -1) {
    const isExact = encoding === "number" || encoding === "decimal64" || encoding === "decimal128";
    return type === "double precision" && (isExact || encoding === "int64") ? "numeric" : type;
  }
  if (encoding === "int32" || encoding === "int64") {
    const needed = integerTypes.indexOf(integerTypeFor(column, rowCount));
    return integerTypes[Math.max(place, needed)] ?? type;
  }
  const isNumber =
    encoding === "number" ||
    encoding === "float64" ||
    encoding === "decimal64" ||
    encoding === "decimal128";
  return isNumber ? "numeric" : type;
}

function integerTypeFor(
  column: Extract<BatchColumn, { encoding: "int32" | "int64" }>,
  rowCount: number,
): ColumnType {
  const isLong = column.encoding === "int64";
  const { buffer, byteOffset } = column.values;
  // Of 64-bit integers the lower half comes first; the upper one of a short integer is its sign.
  const step = isLong ? 2 : 1;
  const parts = new Int32Array(buffer, byteOffset, rowCount * step);
  let needed: ColumnType = "smallint";
  for (let at = 0; at < parts.length; at += step) {
    const value = parts[at] as number;
    if (isLong && parts[at + 1] !== value >> 31) return "bigint";
    if (value !== (value << 16) >> 16) needed = "integer";
  }
  return needed;
}
