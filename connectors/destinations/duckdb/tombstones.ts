/** Deletions that are remembered, so that an older row of their key does not bring it back. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { deletionMemoryMs, quoteName } from "svc-connectors/destination";
import type { Column } from "./columns.ts";
import type { Table } from "./tables.ts";

/** Null is older than anything. */
export const newer = (one: string, other: string) =>
  `(${one} > ${other} OR (${one} IS NOT NULL AND ${other} IS NULL))`;

export const isDeleted = ({ name }: Column) => `(${quoteName(name)} IS NOT NULL)`;

const tombstones = ({ database }: Table) => `${quoteName(database)}._svc.tombstones`;

/** So many deletions at most are forgotten with a merge, besides twice as many as it notes. */
const maxForgotten = 10_000;

/** The table of what is remembered, where it is missing. */
export async function createTombstones(connection: DuckDBConnection, of: Table): Promise<void> {
  await connection.run(
    `CREATE TABLE IF NOT EXISTS ${tombstones(of)} (table_schema VARCHAR, table_name VARCHAR, row_key VARCHAR, row_cursor VARCHAR, noted_at TIMESTAMPTZ)`,
  );
}

/** Rows that are merged, among them those that say that their key is deleted. */
interface Deletions {
  /** Name of their table. */
  readonly batch: string;
  readonly keys: readonly Column[];
  readonly cursor: Column;
  readonly deletedAt: Column;
  readonly nowMs: number;
}

/**
 * Deletions are remembered with their cursor, so that an older row that comes later does not bring
 * the key back; after {@link deletionMemoryMs} they are forgotten. Without a cursor the later
 * arrival counts in any case. Made when the first deletion comes.
 */
export async function mergeTombstones(
  connection: DuckDBConnection,
  table: Table,
  { batch, keys, cursor, deletedAt, nowMs }: Deletions,
): Promise<void> {
  const known = tombstones(table);
  const at = quoteName(cursor.name);
  const key = `to_json([${keys.map(({ name }) => `CAST(${quoteName(name)} AS VARCHAR)`).join(", ")}])`;
  const of = [table.schema, table.name];
  await createTombstones(connection, table);
  await dateTombstones(connection, table, nowMs);
  const isSame = `known.table_schema = $1 AND known.table_name = $2 AND known.row_key = ${key}`;
  await connection.run(
    `DELETE FROM ${batch} AS batch USING ${known} AS known
     WHERE ${isSame} AND ${newer(`TRY_CAST(known.row_cursor AS ${cursor.type})`, `batch.${at}`)}`,
    of,
  );
  await connection.run(`DELETE FROM ${known} AS known USING ${batch} AS batch WHERE ${isSame}`, of);
  const noted = await connection.run(
    `INSERT INTO ${known} SELECT $1, $2, ${key}, CAST(${at} AS VARCHAR), CAST($3 AS TIMESTAMPTZ) FROM ${batch} WHERE ${isDeleted(deletedAt)}`,
    [...of, instant(nowMs)],
  );
  await connection.run(
    `DELETE FROM ${known} WHERE rowid IN (
       SELECT rowid FROM ${known} WHERE table_schema = $1 AND table_name = $2 AND noted_at < CAST($3 AS TIMESTAMPTZ) LIMIT ${maxForgotten + 2 * noted.rowsChanged})`,
    [...of, instant(nowMs - deletionMemoryMs)],
  );
}

/** Deletions that an earlier version has noted have no moment: they get the present. */
async function dateTombstones(
  connection: DuckDBConnection,
  table: Table,
  nowMs: number,
): Promise<void> {
  const found = await connection.runAndReadAll(
    "SELECT count(*) FROM duckdb_columns() WHERE database_name = $1 AND schema_name = '_svc' AND table_name = 'tombstones' AND column_name = 'noted_at'",
    [table.database],
  );
  if (Number(found.getRows()[0]?.[0]) > 0) return;
  const known = tombstones(table);
  const whole = `${quoteName(table.database)}._svc.dated`;
  await connection.run(
    `CREATE TABLE ${whole} AS SELECT *, CAST($1 AS TIMESTAMPTZ) AS noted_at FROM ${known}`,
    [instant(nowMs)],
  );
  await connection.run(`DROP TABLE ${known}`);
  await connection.run(`ALTER TABLE ${whole} RENAME TO tombstones`);
}

const instant = (ms: number) => new Date(ms).toISOString();

/**
 * Deletions of a table that is no more, or whose rows take another table's place. Part of a
 * transaction.
 */
export async function moveTombstones(
  connection: DuckDBConnection,
  from: Table,
  to?: Table,
): Promise<void> {
  const found = await connection.runAndReadAll(
    "SELECT count(*) FROM duckdb_tables() WHERE database_name = current_database() AND schema_name = '_svc' AND table_name = 'tombstones'",
  );
  if (Number(found.getRows()[0]?.[0]) === 0) return;
  const gone = to ?? from;
  await connection.run(
    `DELETE FROM ${tombstones(gone)} WHERE table_schema = $1 AND table_name = $2`,
    [gone.schema, gone.name],
  );
  if (!to) return;
  await connection.run(
    `UPDATE ${tombstones(to)} SET table_name = $1 WHERE table_schema = $2 AND table_name = $3`,
    [to.name, from.schema, from.name],
  );
}
