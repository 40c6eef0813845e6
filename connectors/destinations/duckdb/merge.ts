import type { DuckDBConnection } from "@duckdb/node-api";
import { type MergeKeys, quoteName } from "svc-connectors/destination";
import { type Column, columnList } from "./columns.ts";
import { type Table, tableName } from "./tables.ts";

/** The columns by which rows are deduplicated. */
export interface MergeColumns {
  readonly keys: readonly Column[];
  /** The table has one row per key for good. */
  readonly isKept?: true;
  readonly cursor?: Column | undefined;
  readonly deletedAt?: Column | undefined;
}

export function mergeColumns(
  { keys, cursor, deletedAt }: MergeKeys,
  columns: readonly Column[],
): MergeColumns {
  const at = (name: string | undefined) => columns.find(({ property }) => property === name);
  return {
    keys: keys.flatMap((key) => at(key) ?? []),
    cursor: at(cursor),
    deletedAt: at(deletedAt),
  };
}

/** Key and cursor by which a table is deduplicated, as text. */
export const mergedBy = ({ keys, cursor }: MergeColumns) =>
  JSON.stringify([keys.map(({ property }) => property), cursor?.property ?? null]);

const stageTable = "temp.main._svc_stage";
const batchTable = "temp.main._svc_batch";

/**
 * Merges rows into a table that has one row per key: of the rows of a key the one with the newest
 * cursor counts, of equally new ones the later arrival. Part of a transaction.
 * @param rows a query that gives them in the order of arrival, with all columns of the table
 */
export async function mergeRows(
  connection: DuckDBConnection,
  table: Table,
  columns: readonly Column[],
  merge: MergeColumns,
  rows: string,
): Promise<void> {
  const { cursor, deletedAt } = merge;
  const keys = merge.keys.map(({ name }) => quoteName(name));
  const target = tableName(table);
  const newest = cursor === undefined ? "" : `${quoteName(cursor.name)} DESC NULLS LAST, `;
  await connection.run(`CREATE OR REPLACE TEMP TABLE _svc_stage AS ${rows}`);
  await connection.run(`CREATE OR REPLACE TEMP TABLE _svc_batch AS SELECT * FROM ${stageTable}
    QUALIFY row_number() OVER (PARTITION BY ${keys.join(", ")} ORDER BY ${newest}rowid DESC) = 1`);
  await connection.run(`DROP TABLE ${stageTable}`);
  const isSameKey = keys
    .map((key) => `known.${key} IS NOT DISTINCT FROM batch.${key}`)
    .join(" AND ");
  if (cursor !== undefined) {
    const isNewer = newer(`known.${quoteName(cursor.name)}`, `batch.${quoteName(cursor.name)}`);
    await connection.run(
      `DELETE FROM ${batchTable} AS batch USING ${target} AS known WHERE ${isSameKey} AND ${isNewer}`,
    );
  }
  const isKept = deletedAt === undefined ? "true" : `NOT ${isDeleted(deletedAt)}`;
  if (cursor !== undefined && deletedAt !== undefined)
    await mergeTombstones(connection, table, merge, cursor, deletedAt);
  await connection.run(
    `DELETE FROM ${target} AS known USING ${batchTable} AS batch WHERE ${isSameKey}`,
  );
  const list = columnList(columns);
  await connection.run(
    `INSERT INTO ${target} (${list}) SELECT ${list} FROM ${batchTable} WHERE ${isKept}`,
  );
  await connection.run(`DROP TABLE ${batchTable}`);
}

/** Leaves one row per key in a table that was only appended to. Part of a transaction. */
export async function deduplicate(
  connection: DuckDBConnection,
  table: Table,
  columns: readonly Column[],
  merge: MergeColumns,
): Promise<void> {
  const rows = "_svc_appended";
  await connection.run(
    `CREATE OR REPLACE TEMP TABLE ${rows} AS SELECT * FROM ${tableName(table)} ORDER BY rowid`,
  );
  await connection.run(`DELETE FROM ${tableName(table)}`);
  await mergeRows(
    connection,
    table,
    columns,
    merge,
    `SELECT ${columnList(columns)} FROM temp.main.${rows} ORDER BY rowid`,
  );
  await connection.run(`DROP TABLE temp.main.${rows}`);
}

/** Null is older than anything. */
const newer = (one: string, other: string) =>
  `(${one} > ${other} OR (${one} IS NOT NULL AND ${other} IS NULL))`;

const isDeleted = ({ name }: Column) => `(${quoteName(name)} IS NOT NULL)`;

const tombstones = ({ database }: Table) => `${quoteName(database)}._svc.tombstones`;

/**
 * Deletions are remembered with their cursor, so that an older row that comes later does not bring
 * the key back. Without a cursor the later arrival counts in any case. Made when the first deletion
 * comes.
 */
async function mergeTombstones(
  connection: DuckDBConnection,
  table: Table,
  { keys }: MergeColumns,
  cursor: Column,
  deletedAt: Column,
): Promise<void> {
  const known = tombstones(table);
  const at = quoteName(cursor.name);
  const key = `to_json([${keys.map(({ name }) => `CAST(${quoteName(name)} AS VARCHAR)`).join(", ")}])`;
  const of = [table.schema, table.name];
  await connection.run(
    `CREATE TABLE IF NOT EXISTS ${known} (table_schema VARCHAR, table_name VARCHAR, row_key VARCHAR, row_cursor VARCHAR)`,
  );
  const isSame = `known.table_schema = $1 AND known.table_name = $2 AND known.row_key = ${key}`;
  await connection.run(
    `DELETE FROM ${batchTable} AS batch USING ${known} AS known
     WHERE ${isSame} AND ${newer(`TRY_CAST(known.row_cursor AS ${cursor.type})`, `batch.${at}`)}`,
    of,
  );
  await connection.run(
    `DELETE FROM ${known} AS known USING ${batchTable} AS batch WHERE ${isSame}`,
    of,
  );
  await connection.run(
    `INSERT INTO ${known} SELECT $1, $2, ${key}, CAST(${at} AS VARCHAR) FROM ${batchTable} WHERE ${isDeleted(deletedAt)}`,
    of,
  );
}

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
