/**
 * Batches as the binary format of COPY. A column whose type cannot hold its values gets a wider one
 * first.
 * @see https://www.postgresql.org/docs/current/sql-copy.html (binary format)
 */
import {
  type Batch,
  type BatchColumn,
  isValid,
  noteOf,
  numberAt,
} from "svc-connectors/destination";
import { BinaryRows } from "./binary-rows.ts";
import { type BinaryColumn, binaryColumn, type ServerTypes } from "./binary-values.ts";
import type { Column } from "./columns.ts";
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
  const out = new BinaryRows();
  const job = Buffer.from(jobId.replaceAll("\0", "\ufffd"));
  /** The places of a batch's columns in the table; the schema's order is that of the batch. */
  const placed = (batch: Batch): (BatchColumn | undefined)[] => {
    const byName = new Map(batch.columns.map((column) => [column.name, column]));
    return columns.map(({ property }) => byName.get(property));
  };
  // Microseconds since 2000, like any instant.
  const putInstant = (ms: number) => {
    const us = (ms - Date.UTC(2000, 0, 1)) * 1_000;
    const upper = Math.floor(us / 2 ** 32);
    out.int32(8);
    out.int32(upper);
    out.int32((us - upper * 2 ** 32) | 0);
  };

  /** Writes all rows; gives the place of a column that has to become text. */
  function putRows(
    batch: Batch,
    from: readonly (BatchColumn | undefined)[],
    writers: readonly (BinaryColumn | undefined)[],
    extractedAtMs: number,
  ): number | undefined {
    let nextNote = 0;
    for (let row = 0; row < batch.rowCount; row++) {
      const lost =
        batch.notes[nextNote]?.row === row ? (batch.notes[nextNote++]?.fields ?? []) : [];
      const changes: Change[] = lost.map(nulled);
      out.int16(columns.length + 4);
      for (let index = 0; index < from.length; index++) {
        const column = from[index];
        if (column === undefined || (column.validity !== undefined && !isValid(column, row))) {
          out.int32(-1);
          continue;
        }
        const outcome = (writers[index] as BinaryColumn).put(out, row);
        if (outcome === undefined) continue;
        if (outcome === "misfit") return index;
        if (outcome === "null") out.int32(-1);
        changes.push(outcome === "null" ? nulled(column.name) : replaced(column.name));
      }
      out.int32(16);
      ids.put(out);
      putInstant(extractedAtMs);
      out.int32(job.length);
      out.copy(job, 0, job.length);
      if (changes.length === 0) out.int32(-1);
      else putChanges(changes);
    }
    return undefined;
  }

  function putChanges(changes: readonly Change[]): void {
    const text = Buffer.from(cleanJson(JSON.stringify({ changes })));
    out.reserve(text.length + 1);
    out.int32(text.length + 1);
    out.byte(1);
    out.copy(text, 0, text.length);
  }

  function encodeAs(
    types: readonly ColumnType[],
    batch: Batch,
    from: readonly (BatchColumn | undefined)[],
    extractedAtMs: number,
  ): number | undefined {
    const writers: (BinaryColumn | undefined)[] = [];
    for (const [index, column] of from.entries()) {
      const type = types[index];
      const writer = column && type && binaryColumn(column, type, batch.rowCount, server);
      if (column !== undefined && writer === undefined) return index;
      writers.push(writer);
    }
    out.begin(
      batch.rowCount * (2 + 4 * columns.length + ownBytes + job.length) +
        writers.reduce((sum, writer) => sum + (writer?.maxBytes ?? 0), 0),
    );
    return putRows(batch, from, writers, extractedAtMs);
  }

  return {
    encode(batch, extractedAtMs) {
      const from = placed(batch);
      const types = columns.map(({ type }, index) => {
        const column = from[index];
        return column === undefined ? type : typeFor(column, type, batch.rowCount);
      });
      for (;;) {
        const misfit = encodeAs(types, batch, from, extractedAtMs);
        if (misfit === undefined) break;
        // Text takes every value: each column comes here once at most.
        types[misfit] = "text";
      }
      columns.forEach((column, index) => {
        column.type = types[index] ?? column.type;
      });
      return { format: "binary", bytes: out.written(), types };
    },
  };
}

/** AirbyteRecordMessageMeta's word for what became of a value. */
interface Change {
  readonly field: string;
  readonly change: "NULLED" | "REPLACED";
  readonly reason: string;
}
const nulled = (field: string): Change => noteOf(field);
const replaced = (field: string): Change => ({
  field,
  change: "REPLACED",
  reason: "DESTINATION_SERIALIZATION_ERROR",
});

/** Lengths and values of `_svc_id` and `_svc_extracted_at`, and lengths of the other two. */
const ownBytes = 20 + 12 + 4 + 4;

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
  const at = column.encoding === "int64" ? numberAt(column.values) : undefined;
  const values = column.encoding === "int32" ? column.values : undefined;
  let needed: ColumnType = "smallint";
  for (let row = 0; row < rowCount; row++) {
    const value = values ? (values[row] as number) : (at?.(row) ?? 0);
    if (value >= -32_768 && value < 32_768) continue;
    if (value < -(2 ** 31) || value >= 2 ** 31) return "bigint";
    needed = "integer";
  }
  return needed;
}
