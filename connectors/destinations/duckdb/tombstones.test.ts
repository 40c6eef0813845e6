import { DuckDBInstance } from "@duckdb/node-api";
import { expect, test } from "vitest";
import { describeDeletions } from "../../../tests/destination-deletions.ts";
import { openDuckdbPlace } from "../../../tests/duckdb-place.ts";
import { mergeTombstones } from "./tombstones.ts";

describeDeletions("duckdb", openDuckdbPlace, {
  async count(place, owner) {
    const table = `_svc_${owner}`;
    const [[count] = []] = await place.sql(
      `SELECT count(*) FROM _svc.tombstones WHERE table_name = '${table}'`,
    );
    return Number(count);
  },
  async forgetMoments(place) {
    await place.sql("ALTER TABLE _svc.tombstones DROP COLUMN noted_at");
  },
});

test("many old deletions are forgotten in steps: 10,000 with a merge, and twice as many as it notes", async () => {
  const connection = await (await DuckDBInstance.create()).connect();
  const id = { name: "id", property: "id", type: "BIGINT" };
  const at = { name: "at", property: "at", type: "BIGINT" };
  const deletedAt = { name: "gone", property: "gone", type: "VARCHAR" };
  const table = { database: "memory", schema: "main", name: "t" };
  const nowMs = Date.parse("2026-06-01T00:00:00Z");
  await connection.run(`CREATE SCHEMA _svc;
    CREATE TABLE _svc.tombstones AS SELECT 'main' AS table_schema, 't' AS table_name, '["k' || range || '"]' AS row_key, '1' AS row_cursor,
      TIMESTAMPTZ '2026-01-01 00:00:00Z' AS noted_at FROM range(25000);
    CREATE TEMP TABLE batch AS SELECT range AS id, range AS at, 'x' AS gone FROM range(100)`);
  const deletions = { batch: "temp.main.batch", keys: [id], cursor: at, deletedAt, nowMs };
  const counts: number[] = [];
  for (let merge = 0; merge < 3; merge++) {
    await mergeTombstones(connection, table, deletions);
    const found = await connection.runAndReadAll("SELECT count(*) FROM _svc.tombstones");
    counts.push(Number(found.getRows()[0]?.[0]));
  }
  connection.closeSync();
  expect(counts).toEqual([14_900, 4_700, 100]);
});
