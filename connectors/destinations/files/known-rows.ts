/** Rows that are in files already, and which of the files new rows concern. */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";
import { type ObjectStore, quoteName, quoteText } from "svc-connectors/destination";
import { appendRows } from "../duckdb/append.ts";
import type { MergeColumns } from "../duckdb/merge.ts";
import type { Stage } from "../duckdb/stage.ts";
import { type Table, tableName, widenedTo } from "../duckdb/tables.ts";
import type { DataFile, FileColumn } from "./manifest.ts";

/** Where files of the store are brought to, for DuckDB to read. */
export interface Reader {
  readonly store: ObjectStore;
  readonly connection: DuckDBConnection;
  /** The only folder that DuckDB may read. */
  readonly folder: string;
}

/** Brings files here, and gives how SQL names their rows. */
export async function rowsOf({ store, folder }: Reader, paths: readonly string[]): Promise<string> {
  const names: string[] = [];
  for (const path of paths) {
    const name = join(folder, `${randomUUID()}.parquet`);
    await store.fetch(path, name);
    names.push(quoteText(name));
  }
  return `read_parquet([${names.join(", ")}], union_by_name = true, hive_partitioning = false)`;
}

/**
 * A value of each column, as the table has it now: NULL where the files are older than the column.
 */
export async function selectList(
  { connection }: Pick<Reader, "connection">,
  rows: string,
  columns: readonly FileColumn[],
  before: readonly FileColumn[] = columns,
): Promise<string> {
  const found = await connection.runAndReadAll(`SELECT * FROM ${rows} LIMIT 0`);
  const there = new Set(found.columnNames());
  const types = new Map(before.map(({ name, type }) => [name, type]));
  return columns
    .map(({ name, type }) => {
      const quoted = quoteName(name);
      if (!there.has(name)) return `CAST(NULL AS ${type}) AS ${quoted}`;
      const from = types.get(name) ?? type;
      const value =
        from === type
          ? `CAST(${quoted} AS ${type})`
          : widenedTo(`CAST(${quoted} AS ${from})`, from, type);
      return `${value} AS ${quoted}`;
    })
    .join(", ");
}

const probe: Table = { database: "temp", schema: "main", name: "_svc_probe" };
const noStamp = { extractedAtMs: 0, jobId: "" };

/** The files that may have a row of a staged key. */
export async function affectedFiles(
  connection: DuckDBConnection,
  files: readonly DataFile[],
  { keys: [key] }: MergeColumns,
  stage: Stage,
): Promise<readonly DataFile[]> {
  if (key === undefined || files.length === 0 || stage.rowCount === 0) return [];
  await connection.run(`CREATE OR REPLACE TEMP TABLE _svc_probe (k ${key.type})`);
  const own = [{ ...key, name: "k" }];
  await appendRows(connection, probe, own, own, stage.batches(), noStamp);
  const text = (value: string | null | undefined) => (value ? quoteText(value) : "NULL");
  const ranges = files.map(({ min, max }, index) => `(${index}, ${text(min)}, ${text(max)})`);
  const found = await connection.runAndReadAll(`
    SELECT index FROM (VALUES ${ranges.join(", ")}) AS files (index, least, most)
    WHERE least IS NULL OR most IS NULL OR EXISTS (SELECT 1 FROM ${tableName(probe)} WHERE k IS NULL
      OR k BETWEEN CAST(least AS ${key.type}) AND CAST(most AS ${key.type}))`);
  await connection.run("DROP TABLE _svc_probe");
  return found.getRowsJson().flatMap(([index]) => files[Number(index)] ?? []);
}
