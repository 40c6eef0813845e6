/** How staged rows become files: of their own, or together with rows of files that they replace. */
import { ConnectorError } from "svc-connectors";
import { ownColumns, quoteName } from "svc-connectors/destination";
import { type Column, columnTypes, type TableColumn } from "../duckdb/columns.ts";
import { loadRows, nothingLoaded, widenTexts, widenToRows } from "../duckdb/load.ts";
import { deduplicate, type MergeColumns, mergeByOtherKeys, mergedBy } from "../duckdb/merge.ts";
import { type Table, tableName, widenToTable } from "../duckdb/tables.ts";
import { createTombstones } from "../duckdb/tombstones.ts";
import { exportFiles, exportSelect, type Target } from "./files.ts";
import { affectedFiles, type Reader, rowsOf, selectList } from "./known-rows.ts";
import type { DataFile, SavedFiles } from "./manifest.ts";
import type { OpenStream, Writing } from "./writing.ts";

/** Files of a copy, as they are to be. */
export type FileSet = Pick<SavedFiles, "columns" | "files" | "tombstones">;

/** Files below this size are put together when there are so many of them. */
const small = { bytes: 8 * 1024 * 1024, count: 16 } as const;

const rows: Omit<Table, "database"> = { schema: "main", name: "_rows" };

/**
 * Writes the staged rows to files beside those of `base`; files whose rows they replace, or that
 * lack room in a column, are written anew. Nobody sees them yet.
 * @param base undefined: there are no rows
 */
export async function toFiles(
  writing: Writing,
  stream: OpenStream,
  base: SavedFiles | undefined,
): Promise<FileSet> {
  const { connection } = writing;
  const { columns, stage } = stream;
  for (;;) {
    try {
      return await attempt(writing, stream, base);
    } catch (error) {
      const isRefused = error instanceof ConnectorError;
      if (isRefused || !(await widenTexts(connection, columns, stage))) throw error;
    }
  }
}

async function attempt(
  writing: Writing,
  stream: OpenStream,
  base: SavedFiles | undefined,
): Promise<FileSet> {
  const { database, connection, command, lake, nulled } = writing;
  const { columns, stage, merge, ordered } = stream;
  const before = base?.columns ?? [];
  const known = base?.files ?? [];
  widenToTable(columns, before);
  widenToRows(columns, stage);
  const after = aligned(before, columns);
  const isWidened = before.some(({ type }, index) => type !== after[index]?.type);
  const isMergedAnew =
    merge?.isKept === true && base !== undefined && base.deduplicatedBy !== mergedBy(merge);
  if (stage.rowCount === 0 && !isWidened && !isMergedAnew)
    return { columns: after, files: known, tombstones: base?.tombstones };
  const reader = readerOf(writing);
  const read =
    isWidened || isMergedAnew
      ? known
      : merge
        ? await affectedFiles(connection, known, merge, stage)
        : together(known, ordered);
  const table: Table = { database: database.name, ...rows };
  return await database.transaction(connection, async () => {
    await connection.run(`CREATE TABLE ${tableName(table)} (${definitions(after)})`);
    if (read.length > 0) await fill(reader, table, read, after, before);
    await openTombstones(reader, table, base?.tombstones, lake.clock.now());
    if (isMergedAnew && base.deduplicatedBy !== undefined)
      await mergeByOtherKeys(connection, table, after, merge);
    else if (isMergedAnew) await deduplicate(connection, table, columns, merge, lake.clock.now());
    const to = { table, tableColumns: after, isNew: read.length === 0 };
    const stamp = { extractedAtMs: lake.clock.now(), jobId: command.jobId };
    const loaded =
      stage.rowCount > 0
        ? await loadRows(connection, to, columns, stage, merge, stamp)
        : nothingLoaded;
    const isAnother = loaded.isChanged || isWidened || isMergedAnew;
    const job = read.length === 0 ? command.jobId : "";
    const target = targetOf(writing, stream, merge, job);
    const made = isAnother ? await exportFiles(reader, table, target) : read;
    const tombstones = await exportTombstones(reader, target, base?.tombstones, merge);
    await connection.run(`DROP TABLE ${tableName(table)}`);
    const gone = new Set(read);
    const files = [...known.filter((file) => !gone.has(file)), ...made];
    nulled.add(stream.saved.stream, loaded.nulledCount);
    return { columns: after, files, tombstones };
  });
}

/** Puts two copies together, where they have other types or rows of a job that come again. */
export async function addFiles(
  writing: Writing,
  stream: OpenStream,
  base: SavedFiles,
  more: FileSet,
): Promise<FileSet> {
  const { database, connection, command } = writing;
  const kept = base.files.filter(({ job }) => job !== command.jobId);
  // They may have rows of this job, which it has brought before it was killed.
  const mixed = kept.filter(({ job }) => job === "");
  const types = new Map(base.columns.map(({ name, type }) => [name, type]));
  const isSame = more.columns.every(({ name, type }) => (types.get(name) ?? type) === type);
  const columns = more.columns.map((column) => ({ ...column, property: column.name }));
  const after = [...base.columns.map((one) => ({ ...one, property: one.name }))];
  widenToTable(after, more.columns);
  const all = aligned(
    after,
    columns.map((one) => ({
      ...one,
      type: after.find(({ name }) => name === one.name)?.type ?? one.type,
    })),
    false,
  );
  const isFitting = isSame && all.every(({ name, type }) => (types.get(name) ?? type) === type);
  if (isFitting && mixed.length === 0) return { columns: all, files: [...kept, ...more.files] };
  const reader = readerOf(writing);
  const table: Table = { database: database.name, ...rows };
  return await database.transaction(connection, async () => {
    await connection.run(`CREATE TABLE ${tableName(table)} (${definitions(all)})`);
    const read = isFitting ? mixed : kept;
    if (read.length > 0) await fill(reader, table, read, all, base.columns);
    await connection.run(`DELETE FROM ${tableName(table)} WHERE ${ownColumns.jobId} = $1`, [
      command.jobId,
    ]);
    const old = await exportFiles(reader, table, targetOf(writing, stream, undefined, ""));
    await connection.run(`DELETE FROM ${tableName(table)}`);
    let added = more.files;
    if (!isFitting && more.files.length > 0) {
      await fill(reader, table, more.files, all, more.columns);
      added = await exportFiles(reader, table, targetOf(writing, stream, undefined, command.jobId));
    }
    await connection.run(`DROP TABLE ${tableName(table)}`);
    const gone = new Set(read);
    return { columns: all, files: [...kept.filter((one) => !gone.has(one)), ...old, ...added] };
  });
}

/** The columns of a table that has these, and is to have those of the stream. */
function aligned(
  before: readonly TableColumn[],
  columns: readonly Column[],
  withOwn = true,
): readonly TableColumn[] {
  const wanted = new Map(
    (withOwn ? columnTypes(columns) : columns).map(({ name, type }) => [
      name.toLowerCase(),
      { name, type },
    ]),
  );
  const kept = before.map(({ name, type }) => {
    const own = wanted.get(name.toLowerCase());
    wanted.delete(name.toLowerCase());
    return { name, type: own?.type ?? type };
  });
  return [...kept, ...wanted.values()];
}

const definitions = (columns: readonly TableColumn[]) =>
  columns.map(({ name, type }) => `${quoteName(name)} ${type}`).join(", ");

export const readerOf = ({ lake, connection, database }: Writing): Reader => ({
  store: lake.store,
  connection,
  folder: database.stageFolder,
});

const targetOf = (
  { lake, command }: Writing,
  { saved }: OpenStream,
  merge: MergeColumns | undefined,
  job: string,
): Target => ({
  owner: command.owner,
  fence: command.fence,
  schema: saved.schema,
  name: saved.name,
  partitionBy: lake.partitionBy,
  job,
  keyColumn: merge?.keys[0]?.name,
});

async function fill(
  reader: Reader,
  table: Table,
  files: readonly DataFile[],
  columns: readonly TableColumn[],
  before: readonly TableColumn[],
): Promise<void> {
  const from = await rowsOf(
    reader,
    files.map(({ path }) => path),
  );
  const list = await selectList(reader, from, columns, before);
  await reader.connection.run(`INSERT INTO ${tableName(table)} SELECT ${list} FROM ${from}`);
}

/**
 * Small files that rows are put together with, so that a table of many small syncs does not become
 * thousands of them. Those of full refreshes stay apart: one that comes again replaces its own.
 */
function together(
  files: readonly DataFile[],
  { configured }: OpenStream["ordered"],
): readonly DataFile[] {
  if (configured.sync_mode === "full_refresh") return [];
  const few = files.filter(({ bytes }) => bytes < small.bytes);
  return few.length >= small.count ? few : [];
}

const tombstonesOf = ({ database }: Table) => `${quoteName(database)}._svc.tombstones`;

async function openTombstones(
  reader: Reader,
  table: Table,
  path: string | undefined,
  nowMs: number,
): Promise<void> {
  const { connection } = reader;
  const own = tombstonesOf(table);
  await connection.run(`CREATE SCHEMA IF NOT EXISTS ${quoteName(table.database)}._svc`);
  await connection.run(`DROP TABLE IF EXISTS ${own}`);
  if (path === undefined) return;
  const from = await rowsOf(reader, [path]);
  await createTombstones(connection, table);
  await connection.run(
    `INSERT INTO ${own} BY NAME SELECT 'main' AS table_schema, '_rows' AS table_name, * FROM ${from}`,
  );
  // A file of an earlier version does not say when its deletions were noted.
  await connection.run(
    `UPDATE ${own} SET noted_at = CAST($1 AS TIMESTAMPTZ) WHERE noted_at IS NULL`,
    [new Date(nowMs).toISOString()],
  );
}

/** Keeps the file when nothing was deleted since. */
async function exportTombstones(
  reader: Reader,
  target: Target,
  before: string | undefined,
  merge: MergeColumns | undefined,
): Promise<string | undefined> {
  if (!merge?.deletedAt || !merge.cursor) return before;
  const own = "_svc.tombstones";
  const there = await reader.connection.runAndReadAll(
    "SELECT count(*) FROM duckdb_tables() WHERE schema_name = '_svc' AND table_name = 'tombstones'",
  );
  if (Number(there.getRows()[0]?.[0]) === 0) return before;
  const counted = await reader.connection.runAndReadAll(`SELECT count(*) FROM ${own}`);
  if (Number(counted.getRows()[0]?.[0]) === 0) return undefined;
  return await exportSelect(reader, target, `SELECT row_key, row_cursor, noted_at FROM ${own}`);
}
