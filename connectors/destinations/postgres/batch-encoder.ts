/**
 * Batches as the binary format of COPY. A column whose type cannot hold its values gets a wider one
 * first.
 * @see https://www.postgresql.org/docs/current/sql-copy.html (binary format)
 */
import { type Batch, type BatchColumn, isValid, numberAt } from "svc-connectors/destination";
import { BinaryRows } from "./binary-rows.ts";
import { type BinaryColumn, binaryColumn, type ServerTypes } from "./binary-values.ts";
import type { Column } from "./columns.ts";
import type { RowIds } from "./row-ids.ts";
import type { Rows } from "./rows.ts";
import { type ColumnType, integerTypes } from "./types.ts";

export interface BatchEncoder {
  /**
   * The rows of a batch; undefined when some value of it has to be read as text.
   * @param extractedAtMs of all of them
   */
  encode(batch: Batch, extractedAtMs: number): Rows | undefined;
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

  /** Writes all rows; false at the first value that its column cannot take. */
  function putRows(
    batch: Batch,
    from: readonly (BatchColumn | undefined)[],
    writers: readonly (BinaryColumn | undefined)[],
    extractedAtMs: number,
  ): boolean {
    let nextNote = 0;
    for (let row = 0; row < batch.rowCount; row++) {
      let noted = batch.notes[nextNote]?.row === row ? (batch.notes[nextNote++]?.fields ?? []) : [];
      out.int16(columns.length + 4);
      for (let index = 0; index < from.length; index++) {
        const column = from[index];
        if (column === undefined || (column.validity !== undefined && !isValid(column, row))) {
          out.int32(-1);
          continue;
        }
        const outcome = (writers[index] as BinaryColumn).put(out, row);
        if (outcome === undefined) continue;
        if (outcome === "misfit") return false;
        out.int32(-1);
        noted = [...noted, column.name];
      }
      out.int32(16);
      ids.put(out);
      putInstant(extractedAtMs);
      out.int32(job.length);
      out.copy(job, 0, job.length);
      if (noted.length === 0) out.int32(-1);
      else putNotes(noted);
    }
    return true;
  }

  function putNotes(fields: readonly string[]): void {
    const changes = fields.map((field) => ({
      field,
      change: "NULLED",
      reason: "SOURCE_SERIALIZATION_ERROR",
    }));
    const text = Buffer.from(JSON.stringify({ changes }));
    out.reserve(text.length + 1);
    out.int32(text.length + 1);
    out.byte(1);
    out.copy(text, 0, text.length);
  }

  return {
    encode(batch, extractedAtMs) {
      const from = placed(batch);
      const wanted = columns.map(({ type }, index) => {
        const column = from[index];
        return column === undefined ? type : typeFor(column, type, batch.rowCount);
      });
      const writers: (BinaryColumn | undefined)[] = [];
      for (const [index, column] of from.entries()) {
        const type = wanted[index];
        const writer = column && type && binaryColumn(column, type, batch.rowCount, server);
        if (column !== undefined && writer === undefined) return undefined;
        writers.push(writer);
      }
      out.begin(
        batch.rowCount * (2 + 4 * columns.length + ownBytes + job.length) +
          writers.reduce((sum, writer) => sum + (writer?.maxBytes ?? 0), 0),
      );
      if (!putRows(batch, from, writers, extractedAtMs)) return undefined;
      columns.forEach((column, index) => {
        column.type = wanted[index] ?? column.type;
      });
      return { format: "binary", bytes: out.written(), types: wanted };
    },
  };
}

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
