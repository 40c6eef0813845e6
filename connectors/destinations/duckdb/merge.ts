import type { DuckDBConnection } from "@duckdb/node-api";
import { deletedAtColumn, type MergeKeys, quoteName } from "svc-connectors/destination";
import { type Column, columnList, columnTypes, type TableColumn } from "./columns.ts";
import { type Table, tableName } from "./tables.ts";
import { isDeleted, mergeTombstones, moveTombstones, newer } from "./tombstones.ts";

/** The columns by which rows are deduplicated. */
export interface MergeColumns {
  readonly keys: readonly Column[];
  /** The table has one row per key for good. */
  readonly isKept?: true;
  readonly cursor?: Column | undefined;
  readonly deletedAt?: Column | undefined;
  /** A row whose key is deleted stays, and says when. */
  readonly keepsDeleted?: boolean | undefined;
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

/** The rows that are merged. */
const batch: Table = { database: "temp", schema: "main", name: "_svc_batch" };
const batchTable = tableName(batch);
/** All of them, while some go before. */
const wholeTable = tableName({ ...batch, name: "_svc_whole" });
const markedTable = tableName({ ...batch, name: "_svc_marked" });

/** So many rows are merged whole: those that come again unchanged are looked for among them. */
const maxRepeated = 2_048;

/** The rows that are merged, as far as they are known. */
export interface MergeRows {
  /** Infinity: unknown, and many. */
  readonly rowCount: number;
  /** The table has no rows yet. */
  readonly isFirst: boolean;
  /** The present, by which deletions are noted. */
  readonly nowMs: number;
  /** Brings them into a new table of these columns, in the order of arrival. */
  fill(into: Table, columns: readonly TableColumn[]): Promise<void>;
  /** Adds them to the target. Undefined: they cannot be added but by way of another table. */
  readonly append?: (() => Promise<void>) | undefined;
}

/**
 * Merges rows into a table that has one row per key: of the rows of a key the one with the newest
 * cursor counts, of equally new ones the later arrival. A row that is there as it comes stays as it
 * is: an incremental read asks for the rows of its last cursor once more. Part of a transaction.
 * Gives whether the table is another one now.
 */
export async function mergeRows(
  connection: DuckDBConnection,
  table: Table,
  columns: readonly Column[],
  merge: MergeColumns,
  rows: MergeRows,
): Promise<boolean> {
  if (await appendNewer(connection, table, merge, rows)) return true;
  await fillBatch(connection, columnTypes(columns), rows);
  const markedCount = await keepMarked(connection, merge);
  if (markedCount === 0) return await mergeBatch(connection, table, columns, merge, rows);
  const before = { ...rows, rowCount: markedCount };
  const isChanged = await mergeBatch(connection, table, columns, merge, before);
  await connection.run(
    `CREATE TEMP TABLE _svc_batch AS FROM ${wholeTable} ORDER BY rowid; DROP TABLE ${wholeTable}`,
  );
  const all = { ...rows, isFirst: false };
  return (await mergeBatch(connection, table, columns, merge, all)) || isChanged;
}

/** Merges what is in the batch, and drops it. */
async function mergeBatch(
  connection: DuckDBConnection,
  table: Table,
  columns: readonly Column[],
  merge: MergeColumns,
  rows: MergeRows,
): Promise<boolean> {
  const { cursor, deletedAt } = merge;
  const target = tableName(table);
  let left = rows.rowCount;
  if (left > 1) left -= await keepNewest(connection, merge);
  const isSameKey = isSame(merge.keys);
  if (cursor !== undefined && !rows.isFirst) {
    const isRepeated = merge.isKept && rows.rowCount <= maxRepeated ? isSame(columns) : "false";
    const { rowsChanged } = await connection.run(
      `DELETE FROM ${batchTable} AS batch USING ${target} AS known WHERE ${isSameKey} AND (${isOlder(cursor)} OR (${isRepeated}))`,
    );
    if (left === rowsChanged) {
      await connection.run(`DROP TABLE ${batchTable}`);
      return false;
    }
  }
  if (cursor !== undefined && deletedAt !== undefined)
    await mergeTombstones(connection, table, {
      batch: batchTable,
      keys: merge.keys,
      cursor,
      deletedAt,
      nowMs: rows.nowMs,
    });
  if (deletedAt !== undefined && merge.keepsDeleted)
    await markDeleted(connection, target, isSameKey, [deletedAt, cursor]);
  if (!rows.isFirst)
    await connection.run(
      `DELETE FROM ${target} AS known USING ${batchTable} AS batch WHERE ${isSameKey}`,
    );
  const isKept = deletedAt === undefined ? "true" : `NOT ${isDeleted(deletedAt)}`;
  const list = columnList(columns);
  await connection.run(
    `INSERT INTO ${target} (${list}) SELECT ${list} FROM ${batchTable} WHERE ${isKept} ORDER BY rowid`,
  );
  await connection.run(`DROP TABLE ${batchTable}`);
  return true;
}

/**
 * Leaves the rows that a deletion of the same batch will mark: of a key the last one that was no
 * older than those before it. The batch is kept aside as a whole. Gives how many they are; without
 * one, all is as it was.
 */
async function keepMarked(
  connection: DuckDBConnection,
  { keys, cursor, deletedAt, keepsDeleted }: MergeColumns,
): Promise<number> {
  if (deletedAt === undefined || !keepsDeleted) return 0;
  const list = keys.map(({ name }) => quoteName(name)).join(", ");
  const at = cursor && quoteName(cursor.name);
  const newestBefore = `max(${at}) OVER (PARTITION BY ${list} ORDER BY rowid)`;
  const isInOrder = at === undefined ? "true" : `${at} IS NOT DISTINCT FROM ${newestBefore}`;
  await connection.run(`CREATE OR REPLACE TEMP TABLE _svc_marked AS
    SELECT max(row) FILTER (WHERE NOT is_deleted) AS row FROM (
      SELECT ${list}, rowid AS row, ${isDeleted(deletedAt)} AS is_deleted, ${isInOrder} AS is_in_order FROM ${batchTable}
    ) WHERE is_in_order GROUP BY ${list} HAVING arg_max(is_deleted, row) AND NOT bool_and(is_deleted)`);
  const found = await connection.runAndReadAll(`SELECT count(*) FROM ${markedTable}`);
  const count = Number(found.getRows()[0]?.[0]);
  if (count > 0)
    await connection.run(
      `CREATE TEMP TABLE _svc_whole AS FROM ${batchTable} ORDER BY rowid; DELETE FROM ${batchTable} WHERE rowid NOT IN (FROM ${markedTable})`,
    );
  await connection.run(`DROP TABLE ${markedTable}`);
  return count;
}

/**
 * Rows that are there say that they are deleted, and what says so is not among the others any more.
 */
async function markDeleted(
  connection: DuckDBConnection,
  target: string,
  isSameKey: string,
  [deletedAt, cursor]: readonly [Column, Column | undefined],
): Promise<void> {
  const marks = [deletedAt, ...(cursor ? [cursor] : [])].map(({ name }) => quoteName(name));
  await connection.run(
    `UPDATE ${target} AS known SET ${marks.map((name) => `${name} = batch.${name}`).join(", ")}
     FROM ${batchTable} AS batch WHERE ${isSameKey} AND batch.${quoteName(deletedAt.name)} IS NOT NULL`,
  );
  await connection.run(`DELETE FROM ${batchTable} WHERE ${isDeleted(deletedAt)}`);
}

/**
 * Adds the rows as they are when each of them is kept, which is seen by their keys and cursors
 * alone: most of what many rows bring is written once then. False when it is not so.
 */
async function appendNewer(
  connection: DuckDBConnection,
  table: Table,
  merge: MergeColumns,
  { rowCount, isFirst, fill, append }: MergeRows,
): Promise<boolean> {
  const { keys, cursor, deletedAt } = merge;
  if (!append || deletedAt || rowCount <= maxRepeated) return false;
  const columns = [...new Set([...keys, ...(cursor ? [cursor] : [])])];
  await fillBatch(connection, columns, { fill });
  if ((await keepNewest(connection, merge)) > 0) return false;
  const target = tableName(table);
  if (cursor && !isFirst) {
    const older = await connection.run(
      `DELETE FROM ${batchTable} AS batch USING ${target} AS known WHERE ${isSame(keys)} AND ${isOlder(cursor)}`,
    );
    if (older.rowsChanged > 0) return false;
  }
  if (!isFirst)
    await connection.run(
      `DELETE FROM ${target} AS known USING ${batchTable} AS batch WHERE ${isSame(keys)}`,
    );
  await connection.run(`DROP TABLE ${batchTable}`);
  await append();
  return true;
}

async function fillBatch(
  connection: DuckDBConnection,
  columns: readonly TableColumn[],
  { fill }: Pick<MergeRows, "fill">,
): Promise<void> {
  const definitions = columns.map(({ name, type }) => `${quoteName(name)} ${type}`).join(", ");
  await connection.run(`CREATE OR REPLACE TEMP TABLE _svc_batch (${definitions})`);
  await fill(batch, columns);
}

/** The row that is merged is older than the one that is there. */
const isOlder = ({ name }: Column) => newer(`known.${quoteName(name)}`, `batch.${quoteName(name)}`);

/** Leaves one row per key among those that are merged. Gives how many went. */
async function keepNewest(
  connection: DuckDBConnection,
  { keys, cursor }: MergeColumns,
): Promise<number> {
  const list = keys.map(({ name }) => quoteName(name)).join(", ");
  const newest = cursor === undefined ? "" : `${quoteName(cursor.name)} DESC NULLS LAST, `;
  const { rowsChanged } =
    await connection.run(`DELETE FROM ${batchTable} WHERE rowid IN (SELECT row FROM (
    SELECT rowid AS row, row_number() OVER (PARTITION BY ${list} ORDER BY ${newest}rowid DESC) AS place FROM ${batchTable}
  ) WHERE place > 1)`);
  return rowsChanged;
}

const isSame = (columns: readonly Column[]) =>
  columns
    .map(({ name, type }) => {
      const [known, batch] = [`known.${quoteName(name)}`, `batch.${quoteName(name)}`].map(
        (value) =>
          // A month is as long as 30 days there, and another value.
          type === "INTERVAL" ? `CAST(${value} AS VARCHAR)` : value,
      );
      return `${known} IS NOT DISTINCT FROM ${batch}`;
    })
    .join(" AND ");

/** Leaves one row per key in a table that was only appended to. Part of a transaction. */
export async function deduplicate(
  connection: DuckDBConnection,
  table: Table,
  columns: readonly Column[],
  merge: MergeColumns,
  nowMs: number,
): Promise<void> {
  const list = columnList(columns);
  await mergeRows(connection, table, columns, merge, {
    rowCount: Number.POSITIVE_INFINITY,
    isFirst: true,
    nowMs,
    async fill(into) {
      await connection.run(
        `INSERT INTO ${tableName(into)} (${list}) SELECT ${list} FROM ${tableName(table)} ORDER BY rowid`,
      );
      await connection.run(`DELETE FROM ${tableName(table)}`);
    },
  });
}

/**
 * Leaves one row per key in a table that had one for each of other keys. All of them are rows: one
 * that is marked as deleted has the values of its last change, and stays unless another one has its
 * key. Of those that are there none goes for one that is not; a key that has no value is no one's.
 * Deletions are remembered of the other keys. Part of a transaction.
 */
export async function mergeByOtherKeys(
  connection: DuckDBConnection,
  table: Table,
  tableColumns: readonly TableColumn[],
  { keys, cursor, deletedAt }: MergeColumns,
): Promise<void> {
  const list = keys.map(({ name }) => quoteName(name));
  const marks = tableColumns
    .filter(({ name }) => name === deletedAt?.name || name.toLowerCase() === deletedAtColumn)
    .map(({ name }) => `${quoteName(name)} IS NOT NULL`);
  const isMarked = ["false", ...marks].join(" OR ");
  const newest = cursor === undefined ? "" : `${quoteName(cursor.name)} DESC NULLS LAST, `;
  await connection.run(`DELETE FROM ${tableName(table)} WHERE rowid IN (SELECT row FROM (
    SELECT rowid AS row, (${isMarked}) AND (${list.map((name) => `${name} IS NULL`).join(" OR ")}) AS is_no_ones,
      row_number() OVER (PARTITION BY ${list.join(", ")} ORDER BY (${isMarked}), ${newest}rowid DESC) AS place FROM ${tableName(table)}
  ) WHERE place > 1 AND NOT is_no_ones)`);
  await moveTombstones(connection, table);
}
