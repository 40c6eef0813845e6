import { randomUUID } from "node:crypto";
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { quoteText } from "svc-connectors/destination";
import { openDatabase } from "./database.ts";
import { working } from "./failures.ts";

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
      await connection.run(
        `COPY (SELECT * FROM ${table} ORDER BY rowid) TO ${quoteText(part)} (FORMAT parquet, COMPRESSION zstd)`,
      );
      await rename(part, file);
    });
  } finally {
    connection.closeSync();
    await rm(part, { force: true });
  }
}
