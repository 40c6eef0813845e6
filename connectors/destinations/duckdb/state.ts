import type { DuckDBConnection } from "@duckdb/node-api";
import { ConnectorError, type JsonValue, type SyncMode } from "svc-connectors";
import {
  type ColumnNames,
  type DestinationSyncMode,
  type Generation,
  quoteName,
  type StreamDescriptor,
} from "svc-connectors/destination";
import { nextPrefix, type Table } from "./tables.ts";

/** A generation, and by what its rows were deduplicated: key and cursor as text. */
export interface SavedGeneration extends Generation {
  readonly deduplicatedBy?: string;
}

/** Where a stream's rows are, and how far each copy of them has come. */
export interface SavedTable {
  readonly stream: StreamDescriptor;
  /** The name in the command. The table's own may differ, to fit and to be unique. */
  readonly requested: Requested;
  /** The table that people see. The next generation is built beside it. */
  readonly table: Table;
  readonly generations: { current?: SavedGeneration; next?: SavedGeneration };
  columns: ColumnNames;
}

export interface Requested {
  readonly schema: string;
  readonly name: string;
}

/** The destination's own schema: how far each stream is, and who may write. */
const schema = (database: string) => `${quoteName(database)}._svc`;

/**
 * JSON is kept as text: DuckDB refuses some that a source may give, as half of a surrogate pair.
 */
export async function createStateTables(
  connection: DuckDBConnection,
  database: string,
): Promise<void> {
  const own = schema(database);
  await connection.run(`CREATE SCHEMA IF NOT EXISTS ${own}`);
  await connection.run(`CREATE TABLE IF NOT EXISTS ${own}.writers (owner VARCHAR, fence BIGINT)`);
  await connection.run(`CREATE TABLE IF NOT EXISTS ${own}.state (
    owner VARCHAR, stream_namespace VARCHAR, stream_name VARCHAR, requested_schema VARCHAR, requested_table VARCHAR,
    table_schema VARCHAR, table_name VARCHAR, generation VARCHAR, sync_mode VARCHAR, destination_sync_mode VARCHAR,
    deduplicated_by VARCHAR, row_count BIGINT, state VARCHAR, column_names VARCHAR, updated_at TIMESTAMPTZ)`);
}

/**
 * Lets this attempt write, and none with a lower fence any more. Gives the check that it still may.
 * @throws OUTPUT_FENCED when a higher one is noted
 */
export async function noteFence(
  connection: DuckDBConnection,
  database: string,
  owner: string,
  fence: number,
): Promise<() => Promise<void>> {
  const check = await createFenceCheck(connection, database, owner, fence);
  await check();
  await connection.run(`DELETE FROM ${schema(database)}.writers WHERE owner = $1`, [owner]);
  await connection.run(`INSERT INTO ${schema(database)}.writers VALUES ($1, $2)`, [
    owner,
    BigInt(fence),
  ]);
  return check;
}

/**
 * Gives what is to be called in each transaction that writes: it throws OUTPUT_FENCED when a higher
 * fence is noted. Prepared once, because a stream may be as small as one row.
 */
export async function createFenceCheck(
  connection: DuckDBConnection,
  database: string,
  owner: string,
  fence: number,
): Promise<() => Promise<void>> {
  const higher = await connection.prepare(
    `SELECT 1 FROM ${schema(database)}.writers WHERE owner = $1 AND fence > $2`,
  );
  higher.bind([owner, BigInt(fence)]);
  return async () => {
    if ((await higher.runAndReadAll()).currentRowCount > 0)
      throw new ConnectorError("OUTPUT_FENCED");
  };
}

/**
 * The owner's tables. Generations whose table somebody removed are left out: their stream is read
 * anew.
 */
export async function readSavedTables(
  connection: DuckDBConnection,
  database: string,
  owner: string,
): Promise<SavedTable[]> {
  const sql = `SELECT s.* FROM ${schema(database)}.state s JOIN duckdb_tables() t ON t.database_name = current_database()
      AND t.schema_name = s.table_schema
      AND t.table_name = CASE s.generation WHEN 'next' THEN $2 || s.table_name ELSE s.table_name END
    WHERE owner = $1`;
  const result = await connection.runAndReadAll(sql, [owner, nextPrefix]);
  const byTable = new Map<string, SavedTable>();
  for (const row of result.getRowObjectsJson()) {
    const table = { database, schema: String(row.table_schema), name: String(row.table_name) };
    const key = JSON.stringify([table.schema, table.name]);
    const saved = byTable.get(key) ?? toSavedTable(row, table);
    byTable.set(key, saved);
    saved.generations[row.generation === "next" ? "next" : "current"] = toGeneration(row);
  }
  return [...byTable.values()];
}

type StateRow = { readonly [column: string]: unknown };

function toSavedTable(row: StateRow, table: Table): SavedTable {
  const namespace =
    row.stream_namespace === null ? {} : { namespace: String(row.stream_namespace) };
  return {
    stream: { name: String(row.stream_name), ...namespace },
    requested: { schema: String(row.requested_schema), name: String(row.requested_table) },
    table,
    generations: {},
    columns: JSON.parse(String(row.column_names)) as ColumnNames,
  };
}

function toGeneration(row: StateRow): SavedGeneration {
  return {
    mode: row.sync_mode as SyncMode,
    destinationMode: row.destination_sync_mode as DestinationSyncMode,
    rowCount: Number(row.row_count),
    ...(typeof row.state === "string" ? { state: JSON.parse(row.state) as JsonValue } : {}),
    ...(typeof row.deduplicated_by === "string" ? { deduplicatedBy: row.deduplicated_by } : {}),
  };
}

/**
 * Replaces what is saved of one table. Written in the same transaction as the rows that it speaks
 * of.
 */
export async function saveTable(
  connection: DuckDBConnection,
  owner: string,
  { stream, requested, table, columns }: SavedTable,
  generations: SavedTable["generations"],
  updatedAt: string,
): Promise<void> {
  const state = `${schema(table.database)}.state`;
  await connection.run(`DELETE FROM ${state} WHERE table_schema = $1 AND table_name = $2`, [
    table.schema,
    table.name,
  ]);
  for (const slot of ["current", "next"] as const) {
    const generation = generations[slot];
    if (!generation) continue;
    const { mode, destinationMode, deduplicatedBy, rowCount } = generation;
    const values = [
      owner,
      stream.namespace,
      stream.name,
      requested.schema,
      requested.name,
      table.schema,
      table.name,
      slot,
      mode,
      destinationMode,
      deduplicatedBy,
      BigInt(rowCount),
      generation.state === undefined ? undefined : JSON.stringify(generation.state),
      JSON.stringify(columns),
      updatedAt,
    ].map((value) => value ?? null);
    const places = values.map((_, index) => `$${index + 1}`).join(", ");
    await connection.run(`INSERT INTO ${state} VALUES (${places})`, values);
  }
}
