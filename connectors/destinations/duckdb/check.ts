import { randomUUID } from "node:crypto";
import { ConnectorError } from "svc-connectors";
import { quoteName } from "svc-connectors/destination";
import { openDatabase } from "./database.ts";
import { working } from "./failures.ts";
import type { DuckdbContext } from "./spec.ts";

/** Makes a table, writes, reads and removes it. @throws OUTPUT_BUSY, OUTPUT_FAILED */
export async function check({ path }: DuckdbContext): Promise<void> {
  await using database = await openDatabase(path);
  await working(async () => {
    const connection = await database.connect();
    const probe = quoteName(`_svc_probe_${randomUUID()}`);
    try {
      await database.transaction(connection, () =>
        connection.run(`CREATE TABLE ${probe} AS SELECT 42 AS answer`),
      );
      const answer = await connection.runAndReadAll(`SELECT answer FROM ${probe}`);
      await database.transaction(connection, () => connection.run(`DROP TABLE ${probe}`));
      if (answer.getRowsJson()[0]?.[0] !== 42)
        throw new ConnectorError("OUTPUT_FAILED", { reason: "it gave back another value" });
    } finally {
      connection.closeSync();
    }
  });
}
