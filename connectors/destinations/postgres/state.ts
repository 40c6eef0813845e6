/** The destination's own tables: the schema `_svc`. */
import type { Client } from "pg";
import { ConnectorError, type JsonValue } from "svc-connectors";
import {
  type ColumnNames,
  type DestinationSyncMode,
  type Generation,
  quoteName,
  quoteText,
} from "svc-connectors/destination";
import { sqlState } from "./failures.ts";
import type { Table } from "./tables.ts";

/** A copy, and the job that completed or last wrote it. */
export interface SavedGeneration extends Generation {
  readonly jobId?: string;
}

/** The copy that people see, and the one that is built aside. */
export interface SavedGenerations {
  readonly current?: SavedGeneration;
  readonly next?: SavedGeneration;
}

/** Where a stream's rows are, and how far each copy of them has come. */
export interface SavedStream {
  /** Of the row in `_svc.streams`; undefined until the first commit. */
  readonly id: string | undefined;
  /** The table as the command names it, as JSON text. */
  readonly requested: string;
  readonly table: Table;
  readonly columnNames: ColumnNames;
  readonly generations: SavedGenerations;
  /** When it was last written to. */
  readonly updatedAtMs: number;
}

/**
 * The copy that is built aside. No name that people or pipelines give begins like this: it passes
 * through their schema.
 */
export const nextTable = (id: string): Table => ({ schema: "_svc", name: `svc:next:${id}` });
/** Keys that were deleted, each with the cursor of its tombstone. */
export const deletedTable = (id: string): Table => ({ schema: "_svc", name: `svc:deleted:${id}` });

const tables = `
  CREATE TABLE IF NOT EXISTS _svc.writers (owner text PRIMARY KEY, fence bigint NOT NULL, updated_at timestamptz NOT NULL);
  CREATE TABLE IF NOT EXISTS _svc.streams (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, owner text NOT NULL, stream text NOT NULL,
    table_schema text NOT NULL, table_name text NOT NULL, requested text NOT NULL, column_names json NOT NULL, UNIQUE (owner, stream));
  CREATE UNIQUE INDEX IF NOT EXISTS streams_table ON _svc.streams (table_schema, pg_catalog.lower(table_name COLLATE "C"));
  CREATE TABLE IF NOT EXISTS _svc.state (
    stream_id bigint NOT NULL REFERENCES _svc.streams ON DELETE CASCADE, generation text NOT NULL, sync_mode text NOT NULL,
    destination_sync_mode text NOT NULL, row_count bigint NOT NULL, state json, job_id text, updated_at timestamptz NOT NULL,
    PRIMARY KEY (stream_id, generation));`;

/** Several may make something at the same moment: CREATE … IF NOT EXISTS alone fails then. */
const lockMaking = (client: Client) =>
  client.query("SELECT pg_advisory_xact_lock(hashtext('_svc'))");

/** Makes the tables where they are missing. Needs a transaction. */
export async function createStateTables(client: Client): Promise<void> {
  const { rows } = await client.query(
    "SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = '_svc' AND c.relname = 'state'",
  );
  if (rows.length > 0) return;
  await lockMaking(client);
  await createSchemas(client, ["_svc"]);
  await client.query(tables);
}

/**
 * Makes the schemas that are missing: IF NOT EXISTS alone wants the right to make some even when
 * they are there. Needs a transaction.
 */
export async function createSchemas(client: Client, schemas: readonly string[]): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    "SELECT name FROM unnest($1::text[]) name WHERE NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = name)",
    [schemas],
  );
  if (rows.length === 0) return;
  await lockMaking(client);
  for (const { name } of rows) await client.query(`CREATE SCHEMA IF NOT EXISTS ${quoteName(name)}`);
}

/** Notes the fence: from now on no writer with a lower one commits. @throws OUTPUT_FENCED */
export async function noteFence(client: Client, owner: string, fence: number): Promise<void> {
  const { rowCount } = await client.query(
    `INSERT INTO _svc.writers AS w VALUES ($1, $2, now())
     ON CONFLICT (owner) DO UPDATE SET fence = excluded.fence, updated_at = now() WHERE w.fence <= excluded.fence`,
    [owner, fence],
  );
  if (rowCount === 0) throw new ConnectorError("OUTPUT_FENCED");
}

/** Holds the fence until the end of the transaction. @throws OUTPUT_FENCED when another is noted */
export async function holdFence(client: Client, owner: string, fence: number): Promise<void> {
  const { rows } = await client.query<{ fence: string }>(
    "SELECT fence FROM _svc.writers WHERE owner = $1 FOR UPDATE",
    [owner],
  );
  if (rows[0]?.fence !== String(fence)) throw new ConnectorError("OUTPUT_FENCED");
}

/** The fence that is noted. */
export async function readFence(client: Client, owner: string): Promise<number> {
  const { rows } = await client.query<{ fence: string }>(
    "SELECT fence FROM _svc.writers WHERE owner = $1",
    [owner],
  );
  return Number(rows[0]?.fence ?? 0);
}

interface StreamRow {
  readonly id: string;
  readonly stream: string;
  readonly table_schema: string;
  readonly table_name: string;
  readonly requested: string;
  readonly column_names: string;
  readonly generation: "current" | "next" | null;
  readonly sync_mode: Generation["mode"];
  readonly destination_sync_mode: DestinationSyncMode;
  readonly row_count: string;
  readonly state: string | null;
  readonly job_id: string | null;
  readonly updated_at_ms: string | null;
}

/**
 * The streams of the owner, by key. Generations whose table somebody removed are left out: their
 * stream is read anew.
 */
export async function readStreams(
  client: Client,
  owner: string,
): Promise<Map<string, SavedStream>> {
  const { rows } = await client.query<StreamRow>(
    `SELECT s.id, s.stream, s.table_schema, s.table_name, s.requested, s.column_names::text, g.generation, g.sync_mode, g.destination_sync_mode,
            g.row_count, g.state::text, g.job_id, (extract(epoch FROM g.updated_at) * 1000)::bigint AS updated_at_ms
       FROM _svc.streams s
       LEFT JOIN _svc.state g ON g.stream_id = s.id AND EXISTS (
         SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
          WHERE n.nspname = CASE g.generation WHEN 'next' THEN '_svc' ELSE s.table_schema END
            AND c.relname = CASE g.generation WHEN 'next' THEN 'svc:next:' || s.id ELSE s.table_name END)
      WHERE s.owner = $1`,
    [owner],
  );
  const streams = new Map<string, SavedStream>();
  for (const row of rows) {
    const known = streams.get(row.stream);
    const generation = row.generation === null ? {} : { [row.generation]: toGeneration(row) };
    streams.set(row.stream, {
      id: row.id,
      requested: row.requested,
      table: { schema: row.table_schema, name: row.table_name },
      columnNames: JSON.parse(row.column_names) as ColumnNames,
      generations: { ...known?.generations, ...generation },
      updatedAtMs: Math.max(known?.updatedAtMs ?? 0, Number(row.updated_at_ms ?? 0)),
    });
  }
  return streams;
}

function toGeneration(row: StreamRow): SavedGeneration {
  const { sync_mode: mode, destination_sync_mode: destinationMode, row_count, state } = row;
  const saved = state === null ? {} : { state: JSON.parse(state) as JsonValue };
  return {
    mode,
    destinationMode,
    rowCount: Number(row_count),
    ...saved,
    ...(row.job_id === null ? {} : { jobId: row.job_id }),
  };
}

/** Notes whose table it is. Gives the id. @throws TABLE_CONFLICT when it is another's */
export async function claimTable(
  client: Client,
  owner: string,
  stream: string,
  { table: { schema, name }, requested }: SavedStream,
  columnNames: ColumnNames,
): Promise<string> {
  // A note of another owner about a table that is gone counts no more.
  await client.query(
    `DELETE FROM _svc.streams s WHERE table_schema = $1 AND lower(table_name COLLATE "C") = lower($2 COLLATE "C") AND (owner, stream) <> ($3, $4)
       AND NOT EXISTS (SELECT FROM _svc.state WHERE stream_id = s.id AND generation = 'next')
       AND NOT EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                        WHERE n.nspname = table_schema AND c.relname = table_name)`,
    [schema, name, owner, stream],
  );
  const { rows } = await client
    .query<{ id: string }>(
      `INSERT INTO _svc.streams (owner, stream, table_schema, table_name, requested, column_names) VALUES ($1, $2, $3, $4, $5, $6)
       ON CONFLICT (owner, stream) DO UPDATE SET table_schema = $3, table_name = $4, requested = $5, column_names = $6 RETURNING id`,
      [owner, stream, schema, name, requested, JSON.stringify(columnNames)],
    )
    .catch((error: unknown) => {
      throw sqlState(error) === "23505" ? new ConnectorError("TABLE_CONFLICT", { name }) : error;
    });
  return rows[0]?.id ?? "";
}

/** Replaces what is saved of one copy. Undefined: there is none any more. */
export async function saveGeneration(
  client: Client,
  id: string,
  slot: "current" | "next",
  generation: SavedGeneration | undefined,
  nowMs: number,
): Promise<void> {
  if (!generation) {
    await client.query("DELETE FROM _svc.state WHERE stream_id = $1 AND generation = $2", [
      id,
      slot,
    ]);
    return;
  }
  const { mode, destinationMode, rowCount, state, jobId } = generation;
  await client.query(
    `INSERT INTO _svc.state VALUES ($1, $2, $3, $4, $5, $6, $7, to_timestamp($8::float8 / 1000))
     ON CONFLICT (stream_id, generation) DO UPDATE SET sync_mode = $3, destination_sync_mode = $4, row_count = $5, state = $6,
       job_id = $7, updated_at = to_timestamp($8::float8 / 1000)`,
    [
      id,
      slot,
      mode,
      destinationMode,
      rowCount,
      state === undefined ? null : JSON.stringify(state),
      jobId,
      nowMs,
    ],
  );
}

/**
 * The tables of a schema, and the like, whose names these are; also those that other owners have
 * noted.
 */
export async function findTaken(
  client: Client,
  owner: string,
  wanted: readonly Table[],
): Promise<Table[]> {
  const { rows } = await client.query<Table>(
    `WITH wanted AS (SELECT * FROM unnest($1::text[], $2::text[]) AS w (schema, name))
     SELECT w.schema, w.name FROM wanted w
      WHERE EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = w.schema AND c.relname = w.name)
         OR EXISTS (SELECT FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace WHERE n.nspname = w.schema AND t.typname = w.name)
         OR EXISTS (SELECT FROM _svc.streams s JOIN _svc.state g ON g.stream_id = s.id AND g.generation = 'next'
                     WHERE s.owner <> $3 AND s.table_schema = w.schema AND lower(s.table_name COLLATE "C") = lower(w.name COLLATE "C"))`,
    [wanted.map(({ schema }) => schema), wanted.map(({ name }) => name), owner],
  );
  return rows;
}

/** Ends sessions of earlier attempts of the owner, whose locks would be in the way. */
export async function endPredecessors(
  client: Client,
  session: string,
  fence: number,
): Promise<void> {
  await client.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND usename = current_user AND pid <> pg_backend_pid()
        AND starts_with(application_name, ${quoteText(`${session}:`)}) AND split_part(application_name, ':', 3) ~ '^[0-9]{1,18}$'
        AND split_part(application_name, ':', 3)::bigint < ${fence}`,
  );
}
