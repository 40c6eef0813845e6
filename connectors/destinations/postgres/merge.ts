/**
 * One row per key: the newest cursor wins, of equal ones and without a cursor the later arrival.
 * Null is the oldest.
 */
import type { Client } from "pg";
import {
  deletedAtColumn,
  deletionMemoryMs,
  quoteName,
  quoteText,
  shortHash,
} from "svc-connectors/destination";
import type { Column } from "./columns.ts";
import { sqlState } from "./failures.ts";
import { tableType } from "./native-types.ts";
import { deletedTable } from "./state.ts";
import { columnList, type TableTypes, tableName } from "./tables.ts";

/** How rows of one key are told apart. */
export interface Merge {
  readonly keys: readonly Column[];
  readonly cursor?: Column | undefined;
  /** Not null in a row that says that its key is deleted. */
  readonly deletedAt?: Column | undefined;
  /** A row whose key is deleted stays, and says when. */
  readonly keepsDeleted?: boolean | undefined;
}

/** Where rows are gathered until the commit. Gone with the transaction. */
export const stageTable = "pg_temp.svc_rows";
const wonTable = "pg_temp.svc_won";
const takenTable = "pg_temp.svc_taken";

/** An empty table for rows as they are written. */
export async function createStage(
  client: Client,
  target: string,
  columns: readonly Column[],
): Promise<void> {
  await client.query(`CREATE TEMP TABLE svc_rows (LIKE ${target}) ON COMMIT DROP`);
  const changes = columns
    .filter((column) => tableType(column) !== column.type)
    .map(({ name, type }) => `ALTER COLUMN ${quoteName(name)} TYPE ${type} USING NULL`);
  if (changes.length > 0) await client.query(`ALTER TABLE ${stageTable} ${changes.join(", ")}`);
}

/**
 * Brings the staged rows into the target, which has a unique index on the keys.
 * @param staged the rows with the types of the target, as what follows FROM
 */
export async function mergeStage(
  client: Client,
  target: string,
  staged: string,
  types: TableTypes,
  columns: readonly Column[],
  merge: Merge,
  streamId: string,
  nowMs: number,
): Promise<void> {
  const rest = [types, columns, merge, streamId, nowMs] as const;
  if (merge.deletedAt && merge.keepsDeleted)
    await mergeRows(client, target, marked(staged, merge, merge.deletedAt), ...rest);
  await mergeRows(client, target, staged, ...rest);
}

/**
 * The rows that a deletion may mark, as they were before it: those that are there and no older than
 * the ones that came before. Texts are compared byte by byte; arrays, since not every type has a
 * maximum.
 */
function marked(staged: string, { keys, cursor }: Merge, deletedAt: Column): string {
  const isThere = `${quoteName(deletedAt.name)} IS NULL`;
  if (!cursor) return `(SELECT * FROM ${staged} WHERE ${isThere}) r`;
  const own = `ARRAY[${text(cursor)}]`;
  const newest = `max(${own}) FILTER (WHERE ${quoteName(cursor.name)} IS NOT NULL) OVER (PARTITION BY ${order(keys)} ORDER BY _svc_id)`;
  return `(SELECT * FROM (SELECT *, ${newest} AS svc_newest FROM ${staged}) r
    WHERE ${isThere} AND (svc_newest IS NULL OR ${own} >= svc_newest AND ${quoteName(cursor.name)} IS NOT NULL)) r`;
}

async function mergeRows(
  client: Client,
  target: string,
  staged: string,
  types: TableTypes,
  columns: readonly Column[],
  merge: Merge,
  streamId: string,
  nowMs: number,
): Promise<void> {
  const { keys, cursor, deletedAt } = merge;
  const names = keys.map(({ name }) => quoteName(name)).join(", ");
  const list = columnList(columns);
  const winners = `SELECT DISTINCT ON (${order(keys)}) ${list.join(", ")} FROM ${staged} ORDER BY ${order(keys)}, ${newestFirst(merge)}`;
  // A column that the stream has no more is null in a row that is replaced.
  const gone = [...types.keys()].map(quoteName).filter((name) => !list.includes(name));
  const set = [
    ...list.map((name) => `${name} = excluded.${name}`),
    ...gone.map((name) => `${name} = NULL`),
  ].join(", ");
  const insert = (rows: string, condition = "") =>
    client.query(
      `INSERT INTO ${target} AS t (${list.join(", ")}) ${rows} ON CONFLICT (${names}) DO UPDATE SET ${set} ${condition}`,
    );
  if (!deletedAt) {
    const isNewer =
      cursor &&
      `WHERE excluded.${text(cursor)} >= t.${text(cursor)} OR t.${quoteName(cursor.name)} IS NULL`;
    await insert(winners, isNewer);
    return;
  }
  await client.query(`CREATE TEMP TABLE svc_won ON COMMIT DROP AS ${winners}`);
  const isSame = keys
    .map(({ name }) => `t.${quoteName(name)} = w.${quoteName(name)}`)
    .join(" AND ");
  const deleted = tableName(deletedTable(streamId));
  if (cursor) {
    await createDeletedTable(client, deleted, nowMs);
    const own = `w.${text(cursor)}`;
    const isOlder = (theirs: string) =>
      `(${theirs} > ${own} OR (${theirs} IS NOT NULL AND w.${quoteName(cursor.name)} IS NULL))`;
    const remembered = cursor.type === "text" ? `d.cursor COLLATE "C"` : `d.cursor::${cursor.type}`;
    await client.query(
      `DELETE FROM ${wonTable} w USING ${deleted} d WHERE d.key = ${keyHash("w", keys)} AND ${isOlder(remembered)};
       DELETE FROM ${wonTable} w USING ${target} t WHERE ${isSame} AND ${isOlder(`t.${text(cursor)}`)};
       DELETE FROM ${deleted} d USING ${wonTable} w WHERE d.key = ${keyHash("w", keys)};
       ${rememberDeleted(deleted, wonTable, keys, cursor, deletedAt, nowMs)};
       ${forgetDeleted(deleted, wonTable, deletedAt, nowMs)}`,
    );
  }
  const at = quoteName(deletedAt.name);
  const marks = [deletedAt, ...(cursor ? [cursor] : [])].map(({ name }) => quoteName(name));
  await client.query(
    merge.keepsDeleted
      ? `UPDATE ${target} t SET ${marks.map((name) => `${name} = w.${name}`).join(", ")} FROM ${wonTable} w WHERE ${isSame} AND w.${at} IS NOT NULL`
      : `DELETE FROM ${target} t USING ${wonTable} w WHERE ${isSame} AND w.${at} IS NOT NULL`,
  );
  await insert(`SELECT ${list.join(", ")} FROM ${wonTable} WHERE ${at} IS NULL`);
  await client.query(`DROP TABLE ${wonTable}`);
}

/** Name of the unique index on the keys: another one for other keys. */
export const keyIndex = (streamId: string, keys: readonly Column[]) =>
  `_svc_key_${streamId}_${shortHash(JSON.stringify(keys.map(({ name }) => name)))}`;

export async function createKeyIndex(
  client: Client,
  target: string,
  streamId: string,
  keys: readonly Column[],
): Promise<void> {
  const names = keys.map(({ name }) => quoteName(name)).join(", ");
  await client.query(`CREATE UNIQUE INDEX ${keyIndex(streamId, keys)} ON ${target} (${names})`);
}

/**
 * Leaves one row per key in a table where all were added, and makes the index. Most often there is
 * one already: the index, which is made in any case, tells.
 */
export async function deduplicate(
  client: Client,
  target: string,
  types: TableTypes,
  columns: readonly Column[],
  merge: Merge,
  streamId: string,
  nowMs: number,
): Promise<void> {
  const { keys, cursor, deletedAt, keepsDeleted } = merge;
  if (deletedAt && keepsDeleted) await takeDeleted(client, target, keys, deletedAt);
  await client.query("SAVEPOINT svc_unique");
  try {
    await createKeyIndex(client, target, streamId, keys);
  } catch (error) {
    if (sqlState(error) !== "23505") throw error;
    await client.query("ROLLBACK TO SAVEPOINT svc_unique");
    await removeRepeated(client, target, merge);
    await createKeyIndex(client, target, streamId, keys);
  }
  if (!deletedAt) return;
  const deleted = tableName(deletedTable(streamId));
  if (cursor) {
    await createDeletedTable(client, deleted, nowMs);
    await client.query(rememberDeleted(deleted, target, keys, cursor, deletedAt, nowMs));
  }
  await client.query(`DELETE FROM ${target} WHERE ${quoteName(deletedAt.name)} IS NOT NULL`);
  if (keepsDeleted)
    await mergeStage(client, target, takenTable, types, columns, merge, streamId, nowMs);
}

/**
 * Takes out all rows of the keys of which one is deleted: they are merged as if they came now, so
 * that the deletion marks the row before it.
 */
async function takeDeleted(
  client: Client,
  target: string,
  keys: readonly Column[],
  deletedAt: Column,
): Promise<void> {
  const names = keys.map(({ name }) => quoteName(name)).join(", ");
  await client.query(
    `CREATE TEMP TABLE svc_taken ON COMMIT DROP AS SELECT * FROM ${target}
       WHERE (${names}) IN (SELECT ${names} FROM ${target} WHERE ${quoteName(deletedAt.name)} IS NOT NULL);
     DELETE FROM ${target} WHERE (${names}) IN (SELECT ${names} FROM ${takenTable})`,
  );
}

/**
 * Leaves one row per key in a table that had one for each of other keys, and makes the index. All
 * of them are rows: one that is marked as deleted has the values of its last change, and stays
 * unless another one has its key. Of those that are there none goes for one that is not; a key that
 * has no value is no one's. What is remembered of deletions is about the other keys.
 */
export async function mergeByOtherKeys(
  client: Client,
  target: string,
  types: TableTypes,
  merge: Merge,
  streamId: string,
): Promise<void> {
  const { keys, deletedAt } = merge;
  const marks = [deletedAt?.name, deletedAtColumn]
    .filter((name) => name !== undefined && types.has(name))
    .map((name) => `${quoteName(name as string)} IS NOT NULL`);
  const isMarked = ["false", ...marks].join(" OR ");
  const hasKey = keys.map(({ name }) => `${quoteName(name)} IS NOT NULL`).join(" AND ");
  await client.query(
    `DELETE FROM ${target} WHERE ctid = ANY (ARRAY(SELECT ctid FROM (
       SELECT ctid, row_number() OVER (PARTITION BY ${order(keys)} ORDER BY (${isMarked}), ${newestFirst(merge)}) AS n FROM ${target} WHERE ${hasKey}) r WHERE n > 1));
     DROP TABLE IF EXISTS ${tableName(deletedTable(streamId))}`,
  );
  await createKeyIndex(client, target, streamId, keys);
}

/** Removes all rows of a key but the newest. */
export async function removeRepeated(client: Client, target: string, merge: Merge): Promise<void> {
  await client.query(
    `DELETE FROM ${target} WHERE ctid = ANY (ARRAY(SELECT ctid FROM (
       SELECT ctid, row_number() OVER (PARTITION BY ${order(merge.keys)} ORDER BY ${newestFirst(merge)}) AS n FROM ${target}) r WHERE n > 1))`,
  );
}

/**
 * Older rows of a deleted key must not bring it back. Keys are hashed: they may be of any type and
 * length. A deletion that an earlier version has noted has no moment: it gets the present.
 */
async function createDeletedTable(client: Client, deleted: string, nowMs: number): Promise<void> {
  const { rows } = await client.query(
    "SELECT FROM pg_attribute WHERE attrelid = to_regclass($1) AND attname = 'noted_at'",
    [deleted],
  );
  if (rows.length > 0) return;
  await client.query(
    `CREATE TABLE IF NOT EXISTS ${deleted} (key bytea PRIMARY KEY, cursor text);
     ALTER TABLE ${deleted} ADD COLUMN noted_at timestamptz NOT NULL DEFAULT ${instant(nowMs)};
     CREATE INDEX ON ${deleted} (noted_at)`,
  );
}

function rememberDeleted(
  deleted: string,
  rows: string,
  keys: readonly Column[],
  cursor: Column,
  deletedAt: Column,
  nowMs: number,
): string {
  return `INSERT INTO ${deleted} SELECT ${keyHash("w", keys)}, w.${quoteName(cursor.name)}::text, ${instant(nowMs)} FROM ${rows} w
    WHERE w.${quoteName(deletedAt.name)} IS NOT NULL ON CONFLICT (key) DO UPDATE SET cursor = excluded.cursor, noted_at = excluded.noted_at`;
}

/** So many deletions at most are forgotten with a merge, besides twice as many as it notes. */
const maxForgotten = 10_000;

const forgetDeleted = (deleted: string, rows: string, deletedAt: Column, nowMs: number) =>
  `DELETE FROM ${deleted} WHERE key = ANY (ARRAY(SELECT key FROM ${deleted} WHERE noted_at < ${instant(nowMs - deletionMemoryMs)} ORDER BY noted_at
     LIMIT ${maxForgotten} + 2 * (SELECT count(*) FROM ${rows} WHERE ${quoteName(deletedAt.name)} IS NOT NULL)))`;

const instant = (ms: number) => `${quoteText(new Date(ms).toISOString())}::timestamptz`;

const keyHash = (alias: string, keys: readonly Column[]) =>
  `sha256(convert_to(jsonb_build_array(${keys.map(({ name }) => `${alias}.${quoteName(name)}::text`).join(", ")})::text, 'UTF8'))`;

/** Texts are compared byte by byte, whatever the language of the database. */
const text = ({ name, type }: Column) =>
  type === "text" ? `${quoteName(name)} COLLATE "C"` : quoteName(name);

const order = (keys: readonly Column[]) => keys.map(text).join(", ");

const newestFirst = ({ cursor }: Merge) =>
  cursor ? `${text(cursor)} DESC NULLS LAST, _svc_id DESC` : "_svc_id DESC";
