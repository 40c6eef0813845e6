import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Clock } from "svc-connectors/host";
import { describeDestination } from "../../tests/destination-behaviour.ts";
import { openDatabase } from "./database.ts";
import duckdb from "./index.ts";

describeDestination("duckdb", async (clock: Clock) => {
  const folder = await mkdtemp(join(tmpdir(), "svc-duckdb-"));
  const path = join(folder, "warehouse.duckdb");
  const nothing = () => undefined;
  const ctx = {
    config: { file: "warehouse", schema: "main" },
    path,
    clock,
    log: { debug: nothing, info: nothing, warn: nothing },
    signal: new AbortController().signal,
  };
  return {
    write: (order) => duckdb.write(ctx, order),
    check: () => duckdb.check(ctx),
    query: async (order) => (await duckdb.query?.(ctx, order)) ?? { columns: [], pages: (async function* () {})() },
    async sql(text) {
      await using database = await openDatabase(path);
      const connection = await database.connect();
      try {
        const result = await connection.runAndReadAll(text);
        return result.getRowsJson().map((row) => row.map((value) => (value === null ? null : String(value))));
      } finally {
        connection.closeSync();
      }
    },
    close: () => rm(folder, { recursive: true, force: true }),
  };
});
