import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { expect, test } from "vitest";
import { openDatabase } from "./database.ts";
import { exportParquet } from "./export.ts";

test("rows keep their order in Parquet, also where some were replaced", async () => {
  await using folder = await createFolder();
  const path = join(folder.path, "t.duckdb");
  {
    await using database = await openDatabase(path);
    const connection = await database.connect();
    await connection.run("CREATE TABLE t AS SELECT hash(i) AS h, i FROM range(400000) r(i)");
    await connection.run("DELETE FROM t WHERE i % 7 = 0");
    await connection.run("INSERT INTO t SELECT hash(i), i FROM range(400000) r(i) WHERE i % 7 = 0");
    connection.closeSync();
  }
  const file = join(folder.path, "t.parquet");
  await exportParquet(path, '"t"', file);
  const instance = await DuckDBInstance.create(path);
  const connection = await instance.connect();
  const differing = await connection.runAndReadAll(`
    SELECT count(*), count(*) FILTER (a.i <> b.i)
    FROM (SELECT row_number() OVER (ORDER BY rowid) - 1 AS n, i FROM t) a
    FULL JOIN (SELECT file_row_number AS n, i FROM read_parquet('${file}', file_row_number = true)) b
    USING (n)`);
  expect(differing.getRowsJS()).toEqual([[400_000n, 0n]]);
  connection.closeSync();
  instance.closeSync();
});

test.each([
  ["9".repeat(38), "DECIMAL(38,0)"],
  [String(2n ** 127n - 1n), "VARCHAR"],
])("an integer beyond 64 bits keeps every digit in Parquet: %s", async (digits, type) => {
  await using folder = await createFolder();
  const path = join(folder.path, "t.duckdb");
  {
    await using database = await openDatabase(path);
    const connection = await database.connect();
    await connection.run(
      `CREATE TABLE t AS SELECT unnest(['${digits}', NULL, '-${digits}'])::HUGEINT AS "a ""n"`,
    );
    connection.closeSync();
  }
  const file = join(folder.path, "t.parquet");
  await exportParquet(path, '"t"', file);
  const instance = await DuckDBInstance.create();
  const connection = await instance.connect();
  const query = async (sql: string) => (await connection.runAndReadAll(sql)).getRowsJson();
  const read = `SELECT "a ""n" FROM '${file}'`;
  expect((await query(read)).map(([value]) => value)).toEqual([digits, null, `-${digits}`]);
  expect((await query(`DESCRIBE ${read}`)).map(([, found]) => found)).toEqual([type]);
  connection.closeSync();
  instance.closeSync();
});

test("what Parquet has no type for is text, with all that it says", async () => {
  await using folder = await createFolder();
  const path = join(folder.path, "t.duckdb");
  {
    await using database = await openDatabase(path);
    const connection = await database.connect();
    await connection.run(`CREATE TABLE t AS SELECT unnest([
      INTERVAL '-14 months 3 days -04:05:06.000001', NULL, INTERVAL '0 days', INTERVAL '90 days']) AS i,
      '12:34:56.789012+05:30'::TIMETZ AS t, '0101'::BIT AS b`);
    connection.closeSync();
  }
  const file = join(folder.path, "t.parquet");
  await exportParquet(path, '"t"', file);
  const instance = await DuckDBInstance.create();
  const connection = await instance.connect();
  const rows = (await connection.runAndReadAll(`SELECT * FROM '${file}'`)).getRowsJson();
  expect(rows).toEqual(
    ["P-1Y-2M3DT-4H-5M-6.000001S", null, "PT0S", "P90D"].map((interval) => [
      interval,
      "12:34:56.789012+05:30",
      "0101",
    ]),
  );
  connection.closeSync();
  instance.closeSync();
});

async function createFolder() {
  const path = await mkdtemp(join(tmpdir(), "svc-parquet-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}
