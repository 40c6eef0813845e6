/**
 * `svc read` of a real PostgreSQL server into a DuckDB file: rows that go, and tables read
 * together.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  findPostgres,
  type PostgresDatabase,
  type PostgresServer,
  startPostgres,
} from "../simulators/postgres-server.ts";
import { runCommand } from "./command.ts";
import { skipUnlessWhole } from "./effort.ts";

describe.skipIf(findPostgres() === undefined)("tables of PostgreSQL", () => {
  let server: PostgresServer;
  let database: PostgresDatabase;
  let folder: string;
  beforeAll(async () => {
    server = await startPostgres();
    database = await server.createDatabase();
    folder = await mkdtemp(join(tmpdir(), "svc-read-tables-"));
    const { host, port, password } = server;
    await writeFile(
      join(folder, "db.json"),
      JSON.stringify({
        host,
        port,
        password,
        database: database.name,
        username: "postgres",
        ssl_mode: "disable",
      }),
    );
  });
  afterAll(async () => {
    await server?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  async function read(file: string, ...flags: readonly string[]) {
    const argv = ["read", "postgres", "--config", "db.json", "--out", file, "--json", ...flags];
    const { code, stdout, stderr } = await runCommand(argv, { cwd: folder });
    return { code, text: stderr, said: JSON.parse(stdout || "{}") };
  }

  async function query(file: string, sql: string): Promise<unknown[][]> {
    const instance = await DuckDBInstance.create(join(folder, file));
    const connection = await instance.connect();
    try {
      return (await connection.runAndReadAll(sql)).getRowsJson();
    } finally {
      connection.closeSync();
      instance.closeSync();
    }
  }

  test("a row that is deleted is marked by the next read that compares keys, and a read without tells of nothing", async (context) => {
    skipUnlessWhole(context);
    await database.query(`CREATE TABLE orders (id int PRIMARY KEY, at timestamptz NOT NULL);
      INSERT INTO orders SELECT i, timestamptz '2026-01-01' + i * interval '1 hour' FROM generate_series(1, 5) i`);
    const incremental = ["--streams", "public.orders", "--cursor", "public.orders=at"];
    const gone = () =>
      query(
        "shop.duckdb",
        "SELECT id FROM public.orders WHERE _svc_deleted_at IS NOT NULL ORDER BY id",
      );
    expect(await read("shop.duckdb", ...incremental)).toMatchObject({ code: 0 });
    await database.query(
      "DELETE FROM orders WHERE id IN (2, 4); INSERT INTO orders VALUES (6, '2026-01-02')",
    );
    const compared = await read("shop.duckdb", ...incremental, "--detect-deletes", "soft");
    expect(compared).toMatchObject({ code: 0, said: { status: "succeeded" } });
    expect(compared.said.streams).toMatchObject([{ stream: "public.orders", deleted_rows: 2 }]);
    expect(await gone()).toEqual([[2], [4]]);
    await database.query("INSERT INTO orders VALUES (4, '2026-01-03')");
    await read("shop.duckdb", ...incremental, "--detect-deletes", "soft");
    expect(await gone()).toEqual([[2]]);
    await database.query("DELETE FROM orders");
    const refused = await read("shop.duckdb", ...incremental, "--detect-deletes", "soft");
    expect(refused).toMatchObject({ code: 1, said: { error: { code: "DELETES_REFUSED" } } });
    expect(await gone()).toEqual([[2]]);
  });

  test.each([
    "a folder of lines",
    ".duckdb",
    ".parquet",
    ".arrow",
  ])("numbers without end are null in %s, each is counted, and the read says so", async (form) => {
    const table = `endless_${form.replaceAll(/\W/g, "_")}`;
    const out = form.startsWith(".") ? `${table}${form}` : table;
    await database.query(`CREATE TABLE ${table} (id int PRIMARY KEY, open numeric, money numeric(12,2), whole numeric(10,0), wide numeric(30,0));
      INSERT INTO ${table} SELECT i, i, i, i, i FROM generate_series(1, 10) i;
      INSERT INTO ${table} SELECT i, 'NaN', 'NaN', 'NaN', 'NaN' FROM generate_series(11, 30) i;
      INSERT INTO ${table} VALUES (31, 'Infinity', NULL, NULL, NULL)`);
    const done = await read(out, "--streams", `public.${table}`);
    expect(done).toMatchObject({ code: 0, said: { rows: 31, nulled_values: 81 } });
  });

  test("tables that are read at the same time are each whole, with what failed beside them told", async () => {
    for (let table = 1; table <= 5; table++)
      await database.query(`CREATE TABLE t${table} (id int PRIMARY KEY, note text);
        INSERT INTO t${table} SELECT i, 'note ' || i FROM generate_series(1, ${table * 1_000}) i`);
    await database.query("CREATE VIEW t6 AS SELECT 1 / (id - 500) AS id FROM t1");
    const names = [1, 2, 3, 4, 5, 6].map((table) => `public.t${table}`);
    const all = ["--streams", names.join(","), "--parallel", "3"];
    const first = await read("together.duckdb", ...all);
    expect(first.code).toBe(1);
    const streams = first.said.streams as { stream: string; status: string }[];
    expect(streams.map(({ stream, status }) => [stream, status])).toEqual(
      names.map((name) => [name, name === "public.t6" ? "incomplete" : "complete"]),
    );
    for (let table = 1; table <= 5; table++)
      expect(
        await query(
          "together.duckdb",
          `SELECT count(*), sum(id), count(DISTINCT note) FROM public.t${table}`,
        ),
      ).toEqual([
        [table * 1_000, (table * 1_000 * (table * 1_000 + 1)) / 2, table * 1_000].map(String),
      ]);
  });
});
