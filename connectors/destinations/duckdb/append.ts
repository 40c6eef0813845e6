/** Staged batches into a table by data chunks: 2,048 rows each, one vector a column. */
import { randomFillSync } from "node:crypto";
import { setImmediate as eventLoopTurn } from "node:timers/promises";
import type {
  DuckDBAppender,
  DuckDBConnection,
  DuckDBDataChunk,
  DuckDBValue,
} from "@duckdb/node-api";
import { type BatchColumn, ownColumns } from "svc-connectors/destination";
import { type Bindings, bindings, type Vector } from "./bindings.ts";
import type { Column, Stamp, TableColumn } from "./columns.ts";
import { type FittedValues, fitColumn } from "./fit.ts";
import { loadLogicalTypes } from "./logical-types.ts";
import { withNotes } from "./notes.ts";
import type { StagedBatch } from "./stage.ts";
import { textsWriter, vectorRows, type WriteTexts } from "./strings.ts";
import type { Table } from "./tables.ts";

/** Bytes of rows between two flushes: what DuckDB has not flushed, it does not count as memory. */
const flushBytes = 32 * 1024 * 1024;

/**
 * Appends rows to a table. Part of a transaction. Gives how many values are null there because the
 * type of their column has none like them.
 * @param tableColumns all of the table, in its order; those of no property are null
 * @throws an error of DuckDB when a text cannot be cast to the type of its column
 */
export async function appendRows(
  connection: DuckDBConnection,
  table: Table,
  tableColumns: readonly TableColumn[],
  columns: readonly Column[],
  batches: AsyncIterable<StagedBatch>,
  stamp: Stamp,
): Promise<number> {
  const appender = await connection.createAppender(table.name, table.schema, table.database);
  try {
    const rows = createRowWriter(await openTarget(appender, tableColumns), columns, stamp);
    let sinceFlush = 0;
    let nulledCount = 0;
    for await (const batch of batches) {
      const written = rows.write(batch);
      nulledCount += written.nulledCount;
      sinceFlush += written.byteCount;
      if (sinceFlush >= flushBytes) {
        appender.flushSync();
        sinceFlush = 0;
      }
      await eventLoopTurn();
    }
    appender.closeSync();
    return nulledCount;
  } catch (error) {
    // Rows that are left in it must not be flushed when it is collected.
    appender.clear();
    throw error;
  }
}

interface Target {
  readonly tableColumns: readonly TableColumn[];
  /** A chunk for values of these types, emptied. */
  chunkOf(values: readonly (FittedValues | undefined)[], rowCount: number): Chunk;
  append(chunk: Chunk): void;
}

interface Chunk {
  readonly chunk: DuckDBDataChunk;
  readonly vectors: readonly Vector[];
}

async function openTarget(
  appender: DuckDBAppender,
  tableColumns: readonly TableColumn[],
): Promise<Target> {
  const { DuckDBDataChunk: DataChunk } = await import("@duckdb/node-api");
  const logicalType = await loadLogicalTypes();
  const { data_chunk_get_vector } = bindings();
  const chunks = new Map<string, Chunk>();
  const create = (values: readonly (FittedValues | undefined)[]): Chunk => {
    const types = values.map((one, index) =>
      one === undefined || one.type === tableColumns[index]?.type
        ? appender.columnType(index)
        : logicalType(one.type),
    );
    const chunk = DataChunk.create(types);
    return { chunk, vectors: types.map((_, index) => data_chunk_get_vector(chunk.chunk, index)) };
  };
  return {
    tableColumns,
    chunkOf(values, rowCount) {
      const key = values.map((one) => one?.type ?? "").join();
      const found = chunks.get(key) ?? create(values);
      chunks.set(key, found);
      found.chunk.reset();
      found.chunk.rowCount = rowCount;
      return found;
    },
    append: ({ chunk }) => appender.appendDataChunk(chunk),
  };
}

interface AppendResult {
  readonly byteCount: number;
  readonly nulledCount: number;
}

function createRowWriter(
  { tableColumns, chunkOf, append }: Target,
  columns: readonly Column[],
  { extractedAtMs, jobId }: Stamp,
) {
  const duckdb = bindings();
  const writeTexts = textsWriter();
  const byName = new Map(columns.map((column) => [column.name.toLowerCase(), column]));
  const at = duckdb.create_timestamp_tz({ micros: BigInt(extractedAtMs) * 1000n });
  const job = duckdb.create_varchar(jobId);
  const ids = new Uint8Array(vectorRows * 16);

  return {
    /** Gives about how many bytes it takes. */
    write({ rowCount, columns: given, meta }: StagedBatch): AppendResult {
      const values = new Map(given.map((column) => [column.name, column]));
      const fitted = tableColumns.map(({ name, type }) => {
        const column = byName.get(name.toLowerCase());
        const value = column && values.get(column.property);
        return value && fitColumn(value, rowCount, type);
      });
      const notes = metaTexts(fitted, tableColumns, byName, meta, rowCount);
      for (let from = 0; from < rowCount; from += vectorRows) {
        const count = Math.min(vectorRows, rowCount - from);
        const chunk = chunkOf(fitted, count);
        chunk.vectors.forEach((vector, index) => {
          const one = fitted[index];
          const { name } = tableColumns[index] as TableColumn;
          if (one) fillVector(duckdb, writeTexts, vector, one, from, count);
          else if (name === ownColumns.id) fillIds(duckdb, vector, ids, count);
          else if (name === ownColumns.extractedAt) duckdb.vector_reference_value(vector, at);
          else if (name === ownColumns.jobId) duckdb.vector_reference_value(vector, job);
          else if (name === ownColumns.meta && notes)
            fillVector(duckdb, writeTexts, vector, notes, from, count);
          else setValidity(duckdb, vector, nulls, 0, count);
        });
        append(chunk);
      }
      return {
        byteCount: fitted.reduce(
          (sum, one) => sum + (one ? bytesOf(one, rowCount) : 0),
          rowCount * 32,
        ),
        nulledCount: fitted.reduce((sum, one) => sum + (one?.nulled?.length ?? 0), 0),
      };
    },
  };
}

const bytesOf = ({ values }: FittedValues, rowCount: number) =>
  "offsets" in values ? values.bytes.length + rowCount * 16 : values.length;

const nulls = new Uint8Array(vectorRows / 8);

function setValidity(
  duckdb: Bindings,
  vector: Vector,
  { buffer, byteOffset }: Uint8Array,
  from: number,
  count: number,
): void {
  duckdb.vector_ensure_validity_writable(vector);
  const bytes = Math.ceil(count / 64) * 8;
  duckdb.copy_data_to_vector_validity(
    vector,
    0,
    buffer as ArrayBuffer,
    byteOffset + from / 8,
    bytes,
  );
}

/** @param from a multiple of 64 */
function fillVector(
  duckdb: Bindings,
  writeTexts: WriteTexts,
  vector: Vector,
  { validity, values, type }: FittedValues,
  from: number,
  count: number,
): void {
  if (validity) setValidity(duckdb, vector, validity, from, count);
  if ("offsets" in values) {
    writeTexts(vector, values, from, count);
    return;
  }
  const width = widths[type.replace(/\(.*/, "")] ?? decimalWidth(type);
  duckdb.copy_data_to_vector(
    vector,
    0,
    values.buffer as ArrayBuffer,
    values.byteOffset + from * width,
    count * width,
  );
}

const widths: Readonly<Record<string, number>> = {
  BOOLEAN: 1,
  INTEGER: 4,
  DATE: 4,
  BIGINT: 8,
  DOUBLE: 8,
  TIME: 8,
  TIMESTAMP: 8,
  TIMESTAMPTZ: 8,
  INTERVAL: 16,
  UUID: 16,
};

const decimalWidth = (type: string) => (type.startsWith("DECIMAL(38") ? 16 : 8);

/** Random UUIDs (version 4), in DuckDB's order of bytes. */
function fillIds(duckdb: Bindings, vector: Vector, ids: Uint8Array, count: number): void {
  randomFillSync(ids, 0, count * 16);
  for (let at = 0; at < count * 16; at += 16) {
    // The version is in byte 6 of the text, the variant in byte 8.
    ids[at + 9] = ((ids[at + 9] as number) & 0x0f) | 0x40;
    ids[at + 7] = ((ids[at + 7] as number) & 0x3f) | 0x80;
  }
  duckdb.copy_data_to_vector(vector, 0, ids.buffer as ArrayBuffer, 0, count * 16);
}

/** Gives the values that a table would have, of at most a vector's rows. */
export async function loadValueReader(): Promise<
  (fitted: FittedValues, rowCount: number) => readonly DuckDBValue[]
> {
  const { DuckDBDataChunk: DataChunk } = await import("@duckdb/node-api");
  const logicalType = await loadLogicalTypes();
  const duckdb = bindings();
  const writeTexts = textsWriter();
  return (fitted, rowCount) => {
    const chunk = DataChunk.create([logicalType(fitted.type)], rowCount);
    const vector = duckdb.data_chunk_get_vector(chunk.chunk, 0);
    fillVector(duckdb, writeTexts, vector, fitted, 0, rowCount);
    return chunk.getColumnValues(0);
  };
}

/** The notes of the rows, those for values that became null on the way included. */
function metaTexts(
  fitted: readonly (FittedValues | undefined)[],
  tableColumns: readonly TableColumn[],
  byName: ReadonlyMap<string, Column>,
  meta: BatchColumn | undefined,
  rowCount: number,
): FittedValues | undefined {
  const nulled = new Map<number, string[]>();
  fitted.forEach((one, index) => {
    const { name } = tableColumns[index] as TableColumn;
    const property = byName.get(name.toLowerCase())?.property ?? name;
    for (const row of one?.nulled ?? []) {
      const fields = nulled.get(row);
      if (fields) fields.push(property);
      else nulled.set(row, [property]);
    }
  });
  if (nulled.size === 0) return meta && fitColumn(meta, rowCount, "JSON");
  return fitColumn(withNotes(meta, nulled, rowCount), rowCount, "JSON");
}
