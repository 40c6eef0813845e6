import type { DuckDBConnection } from "@duckdb/node-api";
import type { StreamDescriptor } from "../contract/catalog.ts";
import type { JsonValue } from "../contract/json.ts";
import type { SyncMode } from "../contract/stream.ts";
import type { Table } from "./duckdb-load.ts";
import type { Generation, Generations } from "./output.ts";
import { quoteText } from "./output-names.ts";

/** Where a stream's rows are, and how far each copy of them has come. */
export interface SavedTable {
  readonly stream: StreamDescriptor;
  /** What people see. The next generation is built beside it as `_svc_new_<name>`. */
  readonly table: Table;
  readonly generations: { current?: Generation; next?: Generation };
}

export const nextTable = ({ schema, name }: Table): Table => ({ schema, name: `_svc_new_${name}` });

/** One row a generation. Written in the same transaction as the rows that it speaks of. */
export async function createStateTable(connection: DuckDBConnection): Promise<void> {
  await connection.run(`CREATE TABLE IF NOT EXISTS main._svc_state (
    connector_id VARCHAR, stream_namespace VARCHAR, stream_name VARCHAR, table_schema VARCHAR, table_name VARCHAR,
    generation VARCHAR, sync_mode VARCHAR, row_count BIGINT, state JSON, updated_at TIMESTAMPTZ)`);
}

export interface SavedTables {
  readonly connectorId: string | undefined;
  readonly tables: SavedTable[];
}

/** Generations whose table somebody removed are left out: their stream is read anew. */
export async function readSavedTables(connection: DuckDBConnection): Promise<SavedTables> {
  const result = await connection.runAndReadAll(`SELECT s.* FROM main._svc_state s
    JOIN duckdb_tables() t ON t.database_name = current_database() AND t.schema_name = s.table_schema
      AND t.table_name = CASE s.generation WHEN 'next' THEN '_svc_new_' || s.table_name ELSE s.table_name END
    ORDER BY stream_namespace, stream_name`);
  const byTable = new Map<string, SavedTable>();
  let connectorId: string | undefined;
  for (const row of result.getRowObjectsJson()) {
    connectorId = String(row.connector_id);
    const table = { schema: String(row.table_schema), name: String(row.table_name) };
    const saved = byTable.get(JSON.stringify(table)) ?? { stream: descriptorOf(row), table, generations: {} };
    byTable.set(JSON.stringify(table), saved);
    saved.generations[row.generation === "next" ? "next" : "current"] = generationOf(row);
  }
  return { connectorId, tables: [...byTable.values()] };
}

type StateRow = { readonly [column: string]: unknown };

const descriptorOf = ({ stream_namespace: namespace, stream_name: name }: StateRow): StreamDescriptor =>
  namespace === null ? { name: String(name) } : { name: String(name), namespace: String(namespace) };

function generationOf({ sync_mode, row_count, state }: StateRow): Generation {
  const saved = typeof state === "string" ? { state: JSON.parse(state) as JsonValue } : {};
  return { mode: sync_mode as SyncMode, rowCount: Number(row_count), ...saved };
}

/** Replaces what is saved of one stream. */
export async function saveTable(
  connection: DuckDBConnection,
  connectorId: string,
  { stream, table }: SavedTable,
  generations: Generations,
  updatedAt: string,
): Promise<void> {
  const { schema, name } = table;
  const at = `table_schema = ${quoteText(schema)} AND table_name = ${quoteText(name)}`;
  await connection.run(`DELETE FROM main._svc_state WHERE ${at}`);
  for (const slot of ["current", "next"] as const) {
    const generation = generations[slot];
    if (!generation) continue;
    const { mode, rowCount, state } = generation;
    const texts = [connectorId, stream.namespace, stream.name, schema, name, slot, mode].map(literal).join(", ");
    const saved = state === undefined ? "NULL" : quoteText(JSON.stringify(state));
    await connection.run(
      `INSERT INTO main._svc_state VALUES (${texts}, ${rowCount}, ${saved}, ${quoteText(updatedAt)})`,
    );
  }
}

const literal = (text: string | undefined) => (text === undefined ? "NULL" : quoteText(text));
