import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";
import { quoteName, quoteText, renameWhole } from "svc-connectors/destination";
import { openDatabase } from "./database.ts";
import { working } from "./failures.ts";
import { intervalTextSql } from "./intervals.ts";
import { fitsDecimal } from "./room.ts";
import { maxDigits } from "./types.ts";

/**
 * Writes a table of the database file as Parquet. The file is there whole or, as before, not at
 * all; it has to be on the disk of the database.
 * @param table its quoted name
 * @throws OUTPUT_BUSY, OUTPUT_FAILED
 */
export async function exportParquet(path: string, table: string, file: string): Promise<void> {
  await using database = await openDatabase(path);
  const connection = await database.connect();
  const part = join(database.stageFolder, `${randomUUID()}.parquet`);
  try {
    await working(async () => {
      const list = await exactColumns(connection, table);
      // In the order of the rows, as DuckDB keeps it; an ORDER BY would collect them all first.
      await connection.run(
        `COPY (SELECT ${list} FROM ${table}) TO ${quoteText(part)} (FORMAT parquet, COMPRESSION zstd)`,
      );
      await renameWhole(part, file);
    });
  } finally {
    connection.closeSync();
    await rm(part, { force: true });
  }
}

/**
 * DuckDB writes integers beyond 64 bits as doubles, which round: they are decimals here, or text.
 * A type that Parquet lacks is text: its intervals have no sign and whole milliseconds.
 */
export async function exactColumns(connection: DuckDBConnection, table: string): Promise<string> {
  const columns = (await connection.runAndReadAll(`DESCRIBE ${table}`)).getRowsJS();
  const list: string[] = [];
  for (const [column, type] of columns) {
    const name = quoteName(String(column));
    if (type === "INTERVAL") list.push(`${intervalTextSql(name)} AS ${name}`);
    else if (type === "TIME WITH TIME ZONE" || type === "BIT")
      list.push(`CAST(${name} AS VARCHAR) AS ${name}`);
    else if (type !== "HUGEINT") list.push(name);
    else {
      const isDecimal = await fitsDecimal(connection, table, String(column));
      list.push(
        `CAST(${name} AS ${isDecimal ? `DECIMAL(${maxDigits}, 0)` : "VARCHAR"}) AS ${name}`,
      );
    }
  }
  return list.join(", ");
}
