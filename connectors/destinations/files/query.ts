import { randomUUID } from "node:crypto";
import { mkdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type QueryCommand, type QueryResult, quoteName } from "svc-connectors/destination";
import { type Database, openDatabase } from "../duckdb/database.ts";
import { duckdbFailed } from "../duckdb/failures.ts";
import { runQuery as runDuckdbQuery } from "../duckdb/query.ts";
import { tableName } from "../duckdb/tables.ts";
import { type Reader, rowsOf, selectList } from "./known-rows.ts";
import { isManifest, parseManifest, type SavedTable } from "./manifest.ts";
import type { Lake } from "./store.ts";
import { scratchOf } from "./writer.ts";

/**
 * Runs one SELECT over the tables as the manifests have them at this moment. Files of tables that
 * it does not name are not brought here.
 * @throws QUERY_REFUSED, QUERY_FAILED, OUTPUT_FAILED, CANCELLED
 */
export async function runQuery(lake: Lake, command: QueryCommand): Promise<QueryResult> {
  const path = join(scratchOf(lake), `query-${randomUUID()}`, "lake.duckdb");
  let database: Database | undefined;
  const end = async () => {
    await database?.[Symbol.asyncDispose]();
    await rm(dirname(path), { recursive: true, force: true });
  };
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    database = await openDatabase(path);
    await createViews(lake, database, command.sql);
    const { clock, signal } = lake;
    const nothing = () => undefined;
    const log = { debug: nothing, info: nothing, warn: nothing };
    const config = { file: "lake", schema: "main" };
    const result = await runDuckdbQuery({ path, clock, signal, log, config }, command);
    return { columns: result.columns, pages: untilEnd(result.pages, end) };
  } catch (error) {
    await end();
    throw duckdbFailed(error);
  }
}

async function* untilEnd(
  pages: QueryResult["pages"],
  end: () => Promise<void>,
): QueryResult["pages"] {
  try {
    yield* pages;
  } finally {
    await end();
  }
}

async function createViews({ store }: Lake, database: Database, sql: string): Promise<void> {
  const connection = await database.connect();
  const reader = { store, connection, folder: database.stageFolder };
  const words = sql.toLowerCase();
  try {
    for (const path of (await store.list("_svc/")).filter(isManifest)) {
      const found = await store.read(path);
      if (!found) continue;
      for (const table of parseManifest(found.bytes).tables)
        await createView(reader, database.name, table, isNamed(words, table));
    }
  } finally {
    connection.closeSync();
  }
}

/** A quote in the name is doubled where it is quoted. */
const isNamed = (words: string, { name }: SavedTable): boolean =>
  [name, name.replaceAll('"', '""')].some((one) => words.includes(one.toLowerCase()));

async function createView(
  reader: Reader,
  database: string,
  { schema, name, current }: SavedTable,
  isWanted: boolean,
): Promise<void> {
  if (!current) return;
  const { connection } = reader;
  const table = tableName({ database, schema, name });
  if (schema !== "main")
    await connection.run(`CREATE SCHEMA IF NOT EXISTS ${quoteName(database)}.${quoteName(schema)}`);
  if (!isWanted || current.files.length === 0) {
    const columns = current.columns.map((column) => `${quoteName(column.name)} ${column.type}`);
    await connection.run(`CREATE TABLE ${table} (${columns.join(", ")})`);
    return;
  }
  const rows = await rowsOf(
    reader,
    current.files.map(({ path }) => path),
  );
  const list = await selectList(reader, rows, current.columns);
  await connection.run(`CREATE VIEW ${table} AS SELECT ${list} FROM ${rows}`);
}
