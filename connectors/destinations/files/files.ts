/** Writes a table as Parquet files of the store, one for each partition. */
import { randomUUID } from "node:crypto";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { ownColumns, quoteName, quoteText, shortHash } from "svc-connectors/destination";
import { exactColumns } from "../duckdb/export.ts";
import { type Table, tableName } from "../duckdb/tables.ts";
import type { Reader } from "./known-rows.ts";
import type { DataFile } from "./manifest.ts";
import { tableFolder } from "./paths.ts";
import type { PartitionBy } from "./store.ts";

export interface Target {
  readonly owner: string;
  readonly fence: number;
  readonly schema: string;
  readonly name: string;
  readonly partitionBy: PartitionBy;
  /** Whose rows they are, where all are of one job. */
  readonly job: string;
  /** Name of the column whose least and greatest value are noted. */
  readonly keyColumn: string | undefined;
}

const formats = { day: "%Y-%m-%d", month: "%Y-%m" } as const;

/** How names of data files begin that a writer has made: an older one's may be removed. */
export const filePrefix = (owner: string, fence: number) => `${shortHash(owner)}-${fence}-`;
const fenceOf = /([0-9a-f]{8})-(\d+)-[0-9a-f-]{36}\.parquet$/;

/** Whether a file was made by an earlier writer of the owner than the one with this fence. */
export function isOlder(path: string, owner: string, fence: number): boolean {
  const [, hash, made] = fenceOf.exec(path) ?? [];
  return hash === shortHash(owner) && Number(made) < fence;
}

/** Gives the files, which are in the store. None when the table has no row. */
export async function exportFiles(
  reader: Reader,
  table: Table,
  target: Target,
): Promise<readonly DataFile[]> {
  const { connection } = reader;
  const list = await exactColumns(connection, tableName(table));
  const files: DataFile[] = [];
  for (const { folder, condition } of await partitionsOf(reader, table, target.partitionBy)) {
    const key = target.keyColumn && quoteName(target.keyColumn);
    const bounds = key
      ? `CAST(min(${key}) AS VARCHAR), CAST(max(${key}) AS VARCHAR)`
      : "NULL, NULL";
    const counted = await connection.runAndReadAll(
      `SELECT count(*), ${bounds} FROM ${tableName(table)} WHERE ${condition}`,
    );
    const [rows, min = null, max = null] = counted.getRowsJson()[0] ?? [];
    if (Number(rows) === 0) continue;
    const path = await put(reader, target, {
      folder,
      select: `SELECT ${list} FROM ${tableName(table)} WHERE ${condition}`,
    });
    const range = key ? { min: min as string | null, max: max as string | null } : {};
    files.push({ ...path, rows: Number(rows), job: target.job, ...range });
  }
  return files;
}

async function put(
  { connection, folder, store }: Reader,
  target: Target,
  { folder: partition, select }: { readonly folder: string; readonly select: string },
): Promise<{ readonly path: string; readonly bytes: number }> {
  const part = join(folder, `${randomUUID()}.part`);
  await connection.run(`COPY (${select}) TO ${quoteText(part)} (FORMAT parquet, COMPRESSION zstd)`);
  const { size: bytes } = await stat(part);
  const name = `${filePrefix(target.owner, target.fence)}${randomUUID()}.parquet`;
  const path = `${tableFolder(target)}${partition}${name}`;
  await store.put(part, path);
  return { path, bytes };
}

/** The result of a SELECT as one file. */
export const exportSelect = async (
  reader: Reader,
  target: Target,
  select: string,
): Promise<string> => (await put(reader, target, { folder: "", select })).path;

async function partitionsOf(
  { connection }: Reader,
  table: Table,
  partitionBy: PartitionBy,
): Promise<readonly { readonly folder: string; readonly condition: string }[]> {
  if (partitionBy === "none") return [{ folder: "", condition: "true" }];
  const value = `strftime(timezone('UTC', ${ownColumns.extractedAt}), ${quoteText(formats[partitionBy])})`;
  const found = await connection.runAndReadAll(
    `SELECT DISTINCT ${value} FROM ${tableName(table)} ORDER BY 1`,
  );
  return found.getRowsJson().map(([period]) => ({
    folder: `_svc_${partitionBy}=${period}/`,
    condition: `${value} = ${quoteText(String(period))}`,
  }));
}
