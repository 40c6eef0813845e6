import { randomUUID } from "node:crypto";
import { open, rm } from "node:fs/promises";
import { join } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";
import { quoteName, renameWhole } from "svc-connectors/destination";
import { openDatabase } from "./database.ts";
import { working } from "./failures.ts";
import { fitsDecimal, fitsNanoseconds } from "./room.ts";

/**
 * Writes a table of the database file as an Arrow IPC file. The file is there whole or, as before,
 * not at all; it has to be on the disk of the database.
 * @param table its quoted name
 * @throws OUTPUT_BUSY, OUTPUT_FAILED
 */
export async function exportArrow(path: string, table: string, file: string): Promise<void> {
  await using database = await openDatabase(path);
  const connection = await database.connect();
  const part = join(database.stageFolder, `${randomUUID()}.arrow`);
  try {
    await working(async () => {
      {
        await using handle = await open(part, "wx", 0o666);
        for await (const bytes of arrowFile(connection, table)) await handle.writeFile(bytes);
      }
      await renameWhole(part, file);
    });
  } finally {
    connection.closeSync();
    await rm(part, { force: true });
  }
}

/**
 * The bytes of the file, some MiB at a time. Each part is valid until the next one is asked for.
 */
async function* arrowFile(
  connection: DuckDBConnection,
  table: string,
): AsyncGenerator<Buffer, void, undefined> {
  // Loaded only when needed: Arrow's library costs about 50 ms.
  const { describeColumn } = await import("./arrow/columns.ts");
  const { createBatchBuilder } = await import("./arrow/batch-builder.ts");
  const { createFileWriter } = await import("./arrow/file-writer.ts");
  const columns = [];
  const described = (await connection.runAndReadAll(`DESCRIBE ${table}`)).getRowsJS();
  for (const [column, type] of described) {
    const name = String(column);
    const isShort = () =>
      type === "INTERVAL"
        ? fitsNanoseconds(connection, table, name)
        : fitsDecimal(connection, table, name);
    columns.push(await describeColumn(name, String(type), isShort));
  }
  const writer = createFileWriter(columns);
  const builder = createBatchBuilder(columns);
  const list = columns.map(({ name, select }) => select(quoteName(name))).join(", ");
  // In the order of the rows, as DuckDB keeps it; an ORDER BY would collect them all first.
  const result = await connection.stream(`SELECT ${list} FROM ${table}`);
  yield writer.begin();
  for (let chunk = await result.fetchChunk(); chunk?.rowCount; chunk = await result.fetchChunk())
    for (const batch of builder.add(chunk)) yield writer.write(batch);
  const rest = builder.finish();
  if (rest) yield writer.write(rest);
  yield writer.end();
}
