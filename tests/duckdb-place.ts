import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Clock } from "svc-connectors/host";
import { openDatabase } from "../connectors/destinations/duckdb/database.ts";
import duckdb from "../connectors/destinations/duckdb/index.ts";
import type { DuckdbContext } from "../connectors/destinations/duckdb/spec.ts";
import { configuredOf, takingLines } from "../fixtures/taking-lines.ts";
import type { DestinationPlace } from "./destination-behaviour.ts";

const nothing = () => undefined;

export const duckdbContext = (
  path: string,
  clock: Clock,
  signal = new AbortController().signal,
): DuckdbContext => ({
  config: { file: "warehouse", schema: "main" },
  path,
  clock,
  log: { debug: nothing, info: nothing, warn: nothing },
  signal,
});

/** An empty DuckDB file in a folder of its own. */
export async function openDuckdbPlace(
  clock: Clock,
): Promise<DestinationPlace & { readonly path: string }> {
  const folder = await mkdtemp(join(tmpdir(), "svc-duckdb-"));
  const path = join(folder, "warehouse.duckdb");
  const ctx = duckdbContext(path, clock);
  return {
    path,
    write: async (order) => takingLines(await duckdb.write(ctx, order), configuredOf(order)),
    async compareKeys(order) {
      if (!duckdb.compareKeys) throw new Error("duckdb compares keys");
      return takingLines(await duckdb.compareKeys(ctx, order), configuredOf(order));
    },
    check: () => duckdb.check(ctx),
    async query(order) {
      if (!duckdb.query) throw new Error("duckdb has queries");
      return duckdb.query(ctx, order);
    },
    async sql(text) {
      await using database = await openDatabase(path);
      const connection = await database.connect();
      try {
        const result = await connection.runAndReadAll(text);
        return result
          .getRowsJson()
          .map((row) => row.map((value) => (value === null ? null : String(value))));
      } finally {
        connection.closeSync();
      }
    },
    close: () => rm(folder, { recursive: true, force: true }),
  };
}
