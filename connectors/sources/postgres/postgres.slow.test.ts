import { Client } from "pg";
import type { JsonSchema, Output, Row, RowCondition, SelectedStream, Stream } from "svc-connectors";
import { createHost } from "svc-connectors/host";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import {
  findPostgres,
  type PostgresDatabase,
  type PostgresServer,
  startPostgres,
} from "../../../simulators/postgres-server.ts";
import { skipUnlessWhole } from "../../../tests/effort.ts";
import { createMemorySink } from "../../../tests/memory-sink.ts";
import {
  createPostgresRun,
  type PostgresSettings as Settings,
  type PostgresState as State,
} from "../../../tests/postgres-run.ts";
import { inSnapshot, openSession } from "./api.ts";
import { copyRows } from "./copy.ts";

const reader = "reader_1";
const password = "pä$$ word 'q7Zt3LmX9aRk'";

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
  const admin = await server.createDatabase();
  await admin.query(`CREATE ROLE ${reader} LOGIN PASSWORD '${password.replaceAll("'", "''")}'`);
});
afterAll(() => server?.stop());

const createRun = (database: PostgresDatabase, settings: Settings = {}) =>
  createPostgresRun(server, database, { username: reader, password }, settings);

async function collect<T>(items: AsyncIterable<T> | Iterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

const fullRefresh = (name: string, namespace = "public"): SelectedStream => ({
  name,
  namespace,
  schema: {},
  syncMode: "full_refresh",
});
const incremental = (name: string, cursorField: string): SelectedStream => ({
  name,
  namespace: "public",
  schema: {},
  syncMode: "incremental",
  cursorField,
});

const rowsOf = (outputs: readonly Output<State>[]): Row[] =>
  outputs.flatMap((one) => (one.type === "records" ? one.rows : []));
const lastState = (outputs: readonly Output<State>[]): State =>
  outputs.flatMap((one) => (one.type === "checkpoint" ? [one.state] : [])).at(-1);

/** A new database whose tables the reader may select. */
async function createDatabase(sql: string): Promise<PostgresDatabase> {
  const database = await server.createDatabase();
  await database.query(
    `${sql}; GRANT USAGE ON SCHEMA public TO ${reader}; GRANT SELECT ON ALL TABLES IN SCHEMA public TO ${reader}`,
  );
  return database;
}

async function readAll(
  database: PostgresDatabase,
  stream: SelectedStream,
  settings?: Settings,
  state?: State,
) {
  await using run = createRun(database, settings);
  const outputs = await collect(run.read(stream, state));
  return { outputs, rows: rowsOf(outputs), state: lastState(outputs), logged: run.logged };
}

const ids = (rows: readonly Row[]) => rows.map(({ id }) => Number(id));
const properties = (stream: Stream | undefined) =>
  (stream?.schema as JsonSchema).properties as Record<string, JsonSchema>;

describe.skipIf(findPostgres() === undefined)("source postgres on a real server", () => {
  describe("full refresh", () => {
    test("goes on behind every checkpoint, each row once, also over a composite key", async () => {
      const database = await createDatabase(`
        CREATE TABLE t (b text, id int, a timestamptz, c numeric, PRIMARY KEY (a, b, c));
        INSERT INTO t SELECT chr(65 + i % 3) || '''' || i, i, timestamptz '2026-01-01' + (i / 10) * interval '1 microsecond', i * 1.5
        FROM generate_series(1, 50) i`);
      const whole = await readAll(database, fullRefresh("t"), { page_size: 7 });
      expect(ids(whole.rows).sort((a, b) => a - b)).toEqual(sequence(50));
      const checkpoints = whole.outputs.filter(({ type }) => type === "checkpoint");
      expect(checkpoints).toHaveLength(8);
      await expectResumable(database, fullRefresh("t"), whole.outputs, { page_size: 7 });
    });

    test("a key may have a type from another schema, with an order of its own", async () => {
      const database = await createDatabase(`
        CREATE SCHEMA kinds; GRANT USAGE ON SCHEMA kinds TO ${reader}; CREATE EXTENSION citext SCHEMA kinds;
        CREATE TABLE t (name kinds.citext PRIMARY KEY, id int); INSERT INTO t VALUES ('c', 3), ('B', 2), ('a', 1)`);
      const whole = await readAll(database, fullRefresh("t"), { page_size: 1 });
      expect(ids(whole.rows)).toEqual([1, 2, 3]);
      await expectResumable(database, fullRefresh("t"), whole.outputs, { page_size: 1 });
    });

    test.each([
      ["a table that is emptied and filled again", "t", "TRUNCATE t; INSERT INTO t VALUES (9, 9)"],
      ["a table that is written anew", "t", "ALTER TABLE t ALTER v TYPE bigint USING v * 3"],
      [
        "a partition that is emptied",
        "parts",
        "TRUNCATE parts_2; INSERT INTO parts_2 VALUES (15, 9)",
      ],
      ["a table below a view", "seen", "TRUNCATE base; INSERT INTO base VALUES (9, 9)"],
      ["a table of a query", "asked", "TRUNCATE t; INSERT INTO t VALUES (9, 9)"],
    ])("%s while it waits for its lock is no table without rows", async (_what, name, change) => {
      const database = await createDatabase(`
        CREATE TABLE t (id int PRIMARY KEY, v int); INSERT INTO t SELECT i, 0 FROM generate_series(1, 5) i;
        CREATE TABLE base AS TABLE t; CREATE VIEW seen AS SELECT * FROM base;
        CREATE TABLE parts (id int PRIMARY KEY, v int) PARTITION BY RANGE (id);
        CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (1) TO (11);
        CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM (11) TO (21);
        INSERT INTO parts SELECT i, 0 FROM generate_series(1, 20) i`);
      const query = { name: "asked", sql: "SELECT id, v FROM t", primary_key: ["id"] };
      const { namespace: _, ...asked } = fullRefresh(name);
      await using run = createRun(database, { queries: [query] });
      const read = () => collect(run.read(name === "asked" ? asked : fullRefresh(name)));
      expect(rowsOf(await read())).not.toEqual([]);
      const others = new Client({ connectionString: database.url });
      await others.connect();
      try {
        await others.query(`BEGIN; ${change}`);
        const waiting = expect(read()).rejects.toMatchObject({ code: "DATA_CHANGED" });
        await vi.waitFor(async () => {
          const locks = "SELECT FROM pg_locks WHERE NOT granted";
          expect(await database.query(locks)).toHaveLength(1);
        });
        await others.query("COMMIT");
        await waiting;
        expect(rowsOf(await read())).not.toEqual([]);
      } finally {
        await others.end();
      }
    });

    test("sees one moment while others write, with and without a key", async () => {
      for (const key of ["PRIMARY KEY", ""]) {
        const database = await createDatabase(`
          CREATE TABLE t (id int ${key}, v int); INSERT INTO t SELECT i, 0 FROM generate_series(1, 3000) i`);
        await using run = createRun(database, { page_size: 100 });
        const rows: Row[] = [];
        for await (const output of run.read(fullRefresh("t"))) {
          if (rows.length === 0)
            await database.query(
              "DELETE FROM t WHERE id % 2 = 0; UPDATE t SET v = 1; INSERT INTO t VALUES (9999, 1)",
            );
          if (output.type === "records") rows.push(...output.rows);
          else expect(key).not.toBe("");
        }
        expect(ids(rows)).toEqual(sequence(3000));
        expect(rows.every(({ v }) => v === 0)).toBe(true);
      }
    });

    test("reads the selected fields and the key, nothing else", async () => {
      const database = await createDatabase(
        "CREATE TABLE t (id int PRIMARY KEY, a int, b int); INSERT INTO t VALUES (1, 2, 3)",
      );
      const { rows } = await readAll(database, { ...fullRefresh("t"), selectedFields: ["b"] });
      expect(rows).toEqual([{ id: 1, b: 3 }]);
    });

    test("pages stay small when rows are large, also when they become so in the middle", async () => {
      const database = await createDatabase(`
        CREATE TABLE t (id int PRIMARY KEY, v text);
        INSERT INTO t SELECT i, CASE WHEN i > 5000 THEN repeat('x', 1000000) ELSE '' END FROM generate_series(1, 5060) i`);
      const { outputs, rows } = await readAll(database, fullRefresh("t"));
      const bytes = outputs.map((one) =>
        one.type === "records" ? one.rows.reduce((sum, { v }) => sum + String(v).length, 0) : 0,
      );
      expect(Math.max(...bytes)).toBeLessThan(9.5 * 2 ** 20);
      expect(ids(rows)).toEqual(sequence(5060));
    });

    test("tables of 1,600 columns pass, also when nearly all is null", async () => {
      const names = Array.from({ length: 1599 }, (_, index) => `c${index}`);
      const database = await createDatabase(`
        CREATE TABLE t (id int PRIMARY KEY, ${names.map((name, index) => `${name} ${["int", "text", "bool", "uuid"][index % 4]}`)});
        INSERT INTO t (id, c1) SELECT i, 'text ' || i FROM generate_series(1, 300) i`);
      const { outputs, rows } = await readAll(database, fullRefresh("t"));
      expect(ids(rows)).toEqual(sequence(300));
      expect(rows.every((row) => row.c1 === `text ${row.id}` && row.c1597 === null)).toBe(true);
      expect(outputs.filter(({ type }) => type === "records").length).toBeGreaterThan(3);
    });

    test("a row beyond what a message may hold fails its stream by name; the next stream is read", async () => {
      const database = await createDatabase(`
        CREATE TABLE t (id int PRIMARY KEY, v text); CREATE TABLE u (id int PRIMARY KEY);
        INSERT INTO t VALUES (1, 'x'), (2, repeat('x', 15000000)), (3, repeat('x', 64000000)); INSERT INTO u VALUES (1)`);
      await using run = createRun(database);
      const rows: Row[] = [];
      const reading = (async () => {
        for await (const output of run.read(fullRefresh("t")))
          if (output.type === "records") rows.push(...output.rows);
      })();
      await expect(reading).rejects.toMatchObject({
        code: "RECORD_TOO_LARGE",
        details: { stream: "public.t", limit: 16 * 1024 * 1024 },
      });
      expect(ids(rows)).toEqual([1]);
      expect(ids(rowsOf(await collect(run.read(fullRefresh("u")))))).toEqual([1]);
    });

    test("columns that were dropped are not missed, and those that go while rows are read cost nothing", async () => {
      const database = await createDatabase(`
        CREATE TABLE t (id int PRIMARY KEY, a int, b text, c int); ALTER TABLE t DROP a;
        INSERT INTO t SELECT i, repeat('x', 1000), i FROM generate_series(1, 4000) i`);
      await using run = createRun(database, { page_size: 10 });
      const rows: Row[] = [];
      let dropping: Promise<unknown> | undefined;
      for await (const output of run.read(fullRefresh("t"))) {
        // It waits for the end of the transaction that reads.
        dropping ??= database.query("ALTER TABLE t DROP b");
        if (output.type === "records") rows.push(...output.rows);
      }
      await dropping;
      expect(rows.map(({ c }) => c)).toEqual(sequence(4000));
      expect(rows.every(({ b }) => String(b).length === 1000)).toBe(true);
      const [later] = rowsOf(await collect(run.read(fullRefresh("t"))));
      expect(later).toEqual({ id: 1, b: null, c: 1 });
    });

    test("refuses a state that it did not write", async () => {
      const database = await createDatabase(
        "CREATE TABLE t (id int PRIMARY KEY, u int); INSERT INTO t VALUES (1, 1)",
      );
      const broken: State[] = [
        { mode: "full_refresh", key: ["u"], after: ["1"] },
        { mode: "full_refresh", key: ["id"], after: [] },
        { mode: "full_refresh", key: ["id"], after: ["one"] },
        { mode: "incremental", cursor_field: "u", cursor: "1" },
      ];
      for (const state of broken)
        await expect(readAll(database, fullRefresh("t"), {}, state)).rejects.toMatchObject({
          code: "STATE_INVALID",
        });
      await expect(readAll(database, incremental("t", "id"), {}, broken[3])).rejects.toMatchObject({
        code: "STATE_INVALID",
      });
    });
  });

  describe("incremental", () => {
    test("goes on from every checkpoint without losing a row, within ties too", async () => {
      const database = await createDatabase(`
        CREATE TABLE t (id int PRIMARY KEY, at timestamptz NOT NULL);
        INSERT INTO t SELECT i, timestamptz '2026-01-01' + (i / 20) * interval '1 microsecond' FROM generate_series(1, 100) i`);
      const whole = await readAll(database, incremental("t", "at"), { page_size: 7 });
      expect(ids(whole.rows)).toEqual(sequence(100));
      const seen: number[] = [];
      for (const output of whole.outputs) {
        if (output.type === "records") seen.push(...ids(output.rows));
        else if (output.type === "checkpoint") {
          const rest = await readAll(
            database,
            incremental("t", "at"),
            { page_size: 7 },
            output.state,
          );
          expect([...new Set([...seen, ...ids(rest.rows)])].sort((a, b) => a - b)).toEqual(
            sequence(100),
          );
        }
      }
    });

    test("finds rows that came later with the last value and a smaller key", async () => {
      const database = await createDatabase(`
        CREATE TABLE t (id int PRIMARY KEY, at int); INSERT INTO t VALUES (10, 1), (20, 2), (30, 2)`);
      const first = await readAll(database, incremental("t", "at"));
      expect(first.state).toEqual({ mode: "incremental", cursor_field: "at", cursor: "2" });
      await database.query("INSERT INTO t VALUES (5, 2), (6, 3)");
      const second = await readAll(database, incremental("t", "at"), {}, first.state);
      expect(ids(second.rows)).toEqual([5, 20, 30, 6]);
      expect(second.state).toMatchObject({ cursor: "3" });
    });

    test("leaves rows that are committed during a run to the next one", async () => {
      const database = await createDatabase(`
        CREATE TABLE t (id int PRIMARY KEY, at int); INSERT INTO t SELECT i, i FROM generate_series(1, 10) i`);
      await using run = createRun(database, { page_size: 2 });
      const outputs: Output<State>[] = [];
      for await (const output of run.read(incremental("t", "at"))) {
        if (outputs.length === 0) await database.query("INSERT INTO t VALUES (11, 11)");
        outputs.push(output);
      }
      expect(ids(rowsOf(outputs))).toEqual(sequence(10));
      const next = await readAll(database, incremental("t", "at"), {}, lastState(outputs));
      expect(ids(next.rows)).toEqual([10, 11]);
    });

    test("reads rows without a value once, with a warning, and again when they get one", async () => {
      const database = await createDatabase(`
        CREATE TABLE t (id int PRIMARY KEY, at int); INSERT INTO t VALUES (1, NULL), (2, 7), (3, NULL)`);
      const first = await readAll(database, incremental("t", "at"));
      expect(ids(first.rows).sort()).toEqual([1, 2, 3]);
      expect(first.logged).toMatchObject([{ fields: { stream: "public.t", count: 2 } }]);
      await database.query("UPDATE t SET at = 9 WHERE id = 3");
      const second = await readAll(database, incremental("t", "at"), {}, first.state);
      expect(ids(second.rows)).toEqual([2, 3]);
      const empty = await createDatabase(
        "CREATE TABLE t (id int PRIMARY KEY, at int); INSERT INTO t VALUES (1, NULL)",
      );
      const none = await readAll(empty, incremental("t", "at"));
      expect(none.state).toEqual({
        mode: "incremental",
        cursor_field: "at",
        cursor: null,
        without: 1,
      });
      expect((await readAll(empty, incremental("t", "at"), {}, none.state)).rows).toEqual([]);
    });

    test("tells of rows without a value that came after the first sync", async () => {
      const database = await createDatabase(`
        CREATE TABLE t (id int PRIMARY KEY, at int); CREATE INDEX ON t (at);
        INSERT INTO t VALUES (1, NULL), (2, 7), (3, NULL)`);
      let { state } = await readAll(database, incremental("t", "at"));
      const next = async (sql: string, settings: Partial<SelectedStream> = {}) => {
        await database.query(sql);
        const done = await readAll(database, { ...incremental("t", "at"), ...settings }, {}, state);
        state = done.state ?? state;
        return { ids: ids(done.rows), fields: done.logged.map(({ fields }) => fields) };
      };
      const unread = (unreadRows: number) => [
        { stream: "public.t", cursorField: "at", unreadRows },
      ];
      expect(await next("SELECT 1")).toEqual({ ids: [2], fields: [] });
      const come = "INSERT INTO t SELECT i, NULL FROM generate_series(10, 14) i";
      expect(await next(come)).toEqual({ ids: [2], fields: unread(5) });
      // Nothing says which of them got a value: at least four are not read.
      const first = "UPDATE t SET at = 8 WHERE id = 1";
      expect(await next(first)).toEqual({ ids: [2, 1], fields: unread(4) });
      expect(await next("UPDATE t SET at = 9 WHERE at IS NULL")).toEqual({
        ids: [1, 3, 10, 11, 12, 13, 14],
        fields: [],
      });
      const more = "INSERT INTO t SELECT i, NULL FROM generate_series(100, 20000) i";
      expect((await next(more)).fields).toEqual(unread(10_001));
      const rowFilter = [{ column: "id", operator: "<" as const, value: 110 }];
      expect((await next("SELECT 1", { rowFilter })).fields).toEqual(unread(10));
    });

    test("does not look through a large table without an index for rows without a value", async () => {
      const database = await createDatabase(`
        CREATE TABLE t (id int PRIMARY KEY, at int); INSERT INTO t VALUES (1, 1), (2, 7); ANALYZE t`);
      const { state } = await readAll(database, incremental("t", "at"));
      await database.query("INSERT INTO t VALUES (3, NULL)");
      const fieldsWith = async (rows: number) => {
        await database.query(`UPDATE pg_class SET reltuples = ${rows} WHERE relname = 't'`);
        return (await readAll(database, incremental("t", "at"), {}, state)).logged.length;
      };
      expect([await fieldsWith(2), await fieldsWith(2_000_000), await fieldsWith(-1)]).toEqual([
        1, 0, 0,
      ]);
    });

    test("infinity does not move the state", async () => {
      const cases = [
        { type: "timestamptz", low: "2026-01-01", high: "2026-01-02", endless: "infinity" },
        { type: "float8", low: "1", high: "2", endless: "NaN" },
        { type: "numeric", low: "1", high: "2", endless: "Infinity" },
      ];
      for (const { type, low, high, endless } of cases) {
        const database = await createDatabase(`
          CREATE TABLE t (id int PRIMARY KEY, at ${type}); INSERT INTO t VALUES (1, '${low}'), (2, '${endless}'), (3, '${endless}')`);
        const first = await readAll(database, incremental("t", "at"));
        expect(ids(first.rows)).toEqual([1, 2, 3]);
        expect(first.state).toMatchObject({ cursor: expect.stringContaining(low) });
        await database.query(`INSERT INTO t VALUES (4, '${high}')`);
        const second = await readAll(database, incremental("t", "at"), {}, first.state);
        expect(ids(second.rows)).toEqual([1, 4, 2, 3]);
      }
    });

    test("a saved value from the future gives no rows and stays", async () => {
      const database = await createDatabase(
        "CREATE TABLE t (id int PRIMARY KEY, at date); INSERT INTO t VALUES (1, '2026-01-01')",
      );
      const state: State = { mode: "incremental", cursor_field: "at", cursor: "2999-01-01" };
      const { outputs } = await readAll(database, incremental("t", "at"), {}, state);
      expect(outputs).toEqual([]);
    });

    test("needs a cursor field that exists and has an order", async () => {
      const database = await createDatabase("CREATE TABLE t (id int PRIMARY KEY, j json)");
      for (const field of ["j", "missing"]) {
        await expect(readAll(database, incremental("t", field))).rejects.toMatchObject({
          code: "SYNC_MODE_UNSUPPORTED",
        });
      }
    });
  });

  describe("a row filter", () => {
    let database: PostgresDatabase;
    beforeAll(async () => {
      database = await createDatabase(`
        CREATE TYPE mood AS ENUM ('sad', 'glad');
        CREATE TABLE t (id int PRIMARY KEY, n numeric(5, 1), v varchar(3), m mood, at timestamptz, j json, "a""b" text);
        INSERT INTO t SELECT i, i / 2.0, CASE i % 3 WHEN 0 THEN NULL WHEN 1 THEN 'it''s'::varchar(3) ELSE 'abc' END,
          (ARRAY['sad', 'glad'])[1 + i % 2]::mood, timestamptz '2026-01-01Z' + i * interval '1 day', '{}', 'x' FROM generate_series(1, 12) i`);
    });
    const filtered = (stream: SelectedStream, ...rowFilter: RowCondition[]) => ({
      ...stream,
      rowFilter,
    });
    const read = async (...conditions: RowCondition[]) =>
      ids((await readAll(database, filtered(fullRefresh("t"), ...conditions))).rows);

    test.each<[RowCondition, number[]]>([
      [{ column: "id", operator: "<=", value: 3 }, [1, 2, 3]],
      [{ column: "n", operator: ">", value: "5.5" }, [12]],
      [{ column: "v", operator: "=", value: "it'" }, [1, 4, 7, 10]],
      [{ column: "v", operator: "=", value: "abcdef" }, []],
      [{ column: "v", operator: "!=", value: "abc" }, [1, 4, 7, 10]],
      [{ column: "v", operator: "not in", value: ["abc", "' OR true --"] }, [1, 4, 7, 10]],
      [{ column: "v", operator: "is null" }, [3, 6, 9, 12]],
      [{ column: "j", operator: "is not null" }, sequence(12)],
      [{ column: "m", operator: "in", value: ["sad"] }, [2, 4, 6, 8, 10, 12]],
      [{ column: "at", operator: ">=", value: "2026-01-12T00:00:00Z" }, [11, 12]],
      [{ column: 'a"b', operator: "<", value: "y'; DROP TABLE t; --" }, sequence(12)],
    ])("takes rows by what is in a column: %j", async (condition, wanted) => {
      expect(await read(condition)).toEqual(wanted);
    });

    test("goes with others, with the cursor and with a read that goes on", async () => {
      const odd: RowCondition = { column: "m", operator: "=", value: "glad" };
      const late: RowCondition = { column: "id", operator: ">", value: 4 };
      expect(await read(odd, late)).toEqual([5, 7, 9, 11]);
      const whole = filtered(fullRefresh("t"), odd);
      const { outputs } = await readAll(database, whole, { page_size: 2 });
      await expectResumable(database, whole, outputs, { page_size: 2 });
      const state: State = {
        mode: "incremental",
        cursor_field: "at",
        cursor: "2026-01-08 00:00:00+00",
      };
      const rest = await readAll(database, filtered(incremental("t", "at"), odd), {}, state);
      expect(ids(rest.rows)).toEqual([7, 9, 11]);
    });

    test.each<[RowCondition, RegExp]>([
      [{ column: "gone", operator: "is null" }, /which the table lacks/],
      [{ column: "id", operator: "=", value: "one" }, /does not fit its type/],
      [{ column: "m", operator: "in", value: ["sad", "angry"] }, /does not fit its type/],
      [{ column: "j", operator: "=", value: "{}" }, /no comparison/],
      [{ column: "v", operator: "=", value: "a\0b" }, /no text in PostgreSQL/],
    ])("that cannot be is refused with its column, without its value: %j", async (condition, problem) => {
      await expect(read(condition)).rejects.toMatchObject({
        code: "CATALOG_INVALID",
        details: { path: "row_filter of public.t", problem: expect.stringMatching(problem) },
      });
    });
  });

  describe("a query", () => {
    let database: PostgresDatabase;
    beforeAll(async () => {
      database = await createDatabase(`
        CREATE TABLE t (id int PRIMARY KEY, amount numeric(8, 2), at timestamptz);
        INSERT INTO t SELECT i, i * 1.5, timestamptz '2026-01-01Z' + i * interval '1 day' FROM generate_series(1, 9) i;
        CREATE FUNCTION write() RETURNS int LANGUAGE sql AS 'INSERT INTO t VALUES (99) RETURNING id'`);
    });
    const select = "SELECT id, amount, at, amount > 6 AS large FROM t -- all of them";
    const of = (sql: string, changes: object = {}): Settings => ({
      queries: [{ name: "big", sql, primary_key: ["id"], ...changes }],
    });
    const stream = (changes: Partial<SelectedStream> = {}): SelectedStream => ({
      name: "big",
      schema: {},
      syncMode: "full_refresh",
      ...changes,
    });

    test("is a stream with the types that the server says, beside the tables", async () => {
      await using run = createRun(database, of(`${select};\n`, { cursor_field: "at" }));
      await run.check();
      const [found, ...tables] = await collect(run.discover());
      expect(found).toMatchObject({
        name: "big",
        primaryKey: ["id"],
        cursorField: "at",
        isResumable: false,
      });
      expect(found).not.toHaveProperty("namespace");
      expect(properties(found)).toMatchObject({
        id: { type: "integer", format: "int32" },
        amount: { type: ["number", "null"], precision: 8, scale: 2 },
        large: { type: ["boolean", "null"] },
      });
      expect(tables.map(({ name }) => name)).toEqual(["t"]);
    });

    test("is read whole, by a cursor, with a filter and by some columns, as a table is", async () => {
      const settings = { ...of(select), page_size: 2 };
      const whole = await readAll(database, stream(), settings);
      expect(ids(whole.rows).sort()).toEqual(sequence(9));
      expect(whole.rows[0]).toMatchObject({ id: 1, large: false, at: "2026-01-02T00:00:00Z" });
      const some = await readAll(
        database,
        stream({
          selectedFields: ["id"],
          rowFilter: [{ column: "large", operator: "=", value: true }],
        }),
        settings,
      );
      expect(some.rows.toSorted((a, b) => Number(a.id) - Number(b.id))).toEqual(
        [5, 6, 7, 8, 9].map((id) => ({ id })),
      );
      const byTime = stream({ syncMode: "incremental", cursorField: "at" });
      const first = await readAll(database, byTime, settings);
      expect(ids(first.rows)).toEqual(sequence(9));
      const rest = await readAll(database, byTime, settings, first.state);
      expect(ids(rest.rows)).toEqual([9]);
    });

    test.each<[string, string, RegExp]>([
      ["several statements", "SELECT 1 AS id; DELETE FROM t", /^big: its SQL has an error/],
      ["a statement that writes", "DELETE FROM t RETURNING id", /^big: it is not one SELECT/],
      [
        "one that writes beside",
        "WITH d AS (DELETE FROM t RETURNING id) SELECT id FROM d",
        /only reads/,
      ],
      ["one that locks", "SELECT id FROM t FOR UPDATE", /writes|may not read/],
      [
        "one that closes the parentheses",
        "SELECT 1 AS id) AS a, (SELECT 2 AS id",
        /its SQL has an error/,
      ],
      ["no statement", "-- nothing", /it is not one SELECT/],
      ["a command", "SHOW server_version", /it is not one SELECT/],
      ["a parameter", "SELECT id FROM t WHERE id = $1", /parameter/],
      [
        "a table that is not there",
        "SELECT id FROM no_such_table",
        /names a table that there is not \(character 16\)/,
      ],
      ["two columns of one name", "SELECT 1 AS id, 2 AS id", /have the name id/],
      ["no column of the key", "SELECT amount FROM t", /no column id, which primary_key names/],
    ])("that is %s is refused with the reason, and without its text", async (_, sql, reason) => {
      await using run = createRun(database, of(sql));
      for (const attempt of [() => run.check(), () => collect(run.discover())]) {
        const error: unknown = await attempt().catch((caught: unknown) => caught);
        expect(error).toMatchObject({
          code: expect.stringMatching(/^QUERY_(REFUSED|FAILED)$/),
          details: { reason: expect.stringMatching(reason) },
        });
        expect(JSON.stringify(error)).not.toContain("no_such_table");
      }
    });

    test("that writes by a function, or fails at a row, says so when it is read", async () => {
      const attempt = (sql: string) =>
        readAll(
          database,
          stream({ schema: { type: "object", properties: { id: { type: "integer" } } } }),
          of(sql),
        );
      await expect(attempt("SELECT write() AS id")).rejects.toMatchObject({
        code: "QUERY_REFUSED",
      });
      await expect(attempt("SELECT id / (id - 5) AS id FROM t")).rejects.toMatchObject({
        code: "QUERY_FAILED",
        details: { reason: "big: it divides by zero" },
      });
      expect(await database.query("SELECT count(*) AS c FROM t")).toMatchObject([{ c: "9" }]);
    });
  });

  describe("discovery", () => {
    test("lists tables, views and partitioned tables with keys; partitions and system schemas are left out", async () => {
      const database = await createDatabase(`
        CREATE TABLE b (x int, y int, z text, PRIMARY KEY (y, x)); CREATE TABLE "B2" (j json);
        CREATE VIEW v AS SELECT x FROM b; CREATE MATERIALIZED VIEW m AS SELECT x FROM b;
        CREATE TABLE p (id int PRIMARY KEY) PARTITION BY RANGE (id); CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10);
        CREATE SCHEMA other; CREATE TABLE other.b (x int); GRANT USAGE ON SCHEMA other TO ${reader}; GRANT SELECT ON other.b TO ${reader};
        INSERT INTO p VALUES (4), (5)`);
      await using run = createRun(database, { schemas: [] });
      const streams = await collect(run.discover());
      expect(
        streams.map(({ namespace, name, primaryKey, syncModes }) => [
          `${namespace}.${name}`,
          primaryKey,
          syncModes?.length,
        ]),
      ).toEqual([
        ["other.b", [], 2],
        ["public.B2", [], 1],
        ["public.b", ["y", "x"], 2],
        ["public.m", [], 2],
        ["public.p", ["id"], 2],
        ["public.v", [], 2],
      ]);
      expect(ids(rowsOf(await collect(run.read(fullRefresh("p")))))).toEqual([4, 5]);
      await using narrow = createRun(database);
      expect(
        (await collect(narrow.discover())).every(({ namespace }) => namespace === "public"),
      ).toBe(true);
    });

    test("proposes columns that may serve as a cursor, those that find changes and have an index first", async () => {
      const database = await createDatabase(`
        CREATE TABLE orders (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, created_at timestamptz, "updatedAt" timestamptz, note text);
        CREATE TABLE indexed (last_modified timestamp, changed_on date, x int); CREATE INDEX ON indexed (changed_on);
        CREATE TABLE partly (updated_at timestamptz); CREATE INDEX ON partly (updated_at) WHERE updated_at > '2020-01-01';
        CREATE TABLE counted (id serial PRIMARY KEY); CREATE TABLE given (id int PRIMARY KEY, updated_by text, updated_at text);
        CREATE TABLE pair (a serial, b int, PRIMARY KEY (a, b)); CREATE VIEW v AS SELECT "updatedAt" FROM orders`);
      await using run = createRun(database);
      const proposed = Object.fromEntries(
        (await collect(run.discover())).map(({ name, proposedCursors = [] }) => [
          name,
          proposedCursors.map(({ field, finds, is_indexed }) =>
            [field, finds, is_indexed ? "indexed" : ""].join(" ").trim(),
          ),
        ]),
      );
      expect(proposed).toEqual({
        orders: ["updatedAt changes", "id new_rows indexed", "created_at new_rows"],
        indexed: ["changed_on changes indexed", "last_modified changes"],
        partly: ["updated_at changes"],
        counted: ["id new_rows indexed"],
        given: [],
        pair: [],
        v: ["updatedAt changes"],
      });
    });

    test("patterns choose tables, in which _ and % mean themselves", async () => {
      const database = await createDatabase(
        "CREATE TABLE order_1 (); CREATE TABLE orderx1 (); CREATE TABLE orders (); CREATE TABLE tmp_a ()",
      );
      const listed = async (settings: Settings) => {
        await using run = createRun(database, settings);
        return (await collect(run.discover())).map(({ name }) => name);
      };
      expect(await listed({ include_tables: ["public.order_1"] })).toEqual(["order_1"]);
      expect(await listed({ include_tables: ["public.order?1", "tmp*"] })).toEqual([
        "order_1",
        "orderx1",
        "tmp_a",
      ]);
      expect(await listed({ exclude_tables: ["*.order*"] })).toEqual(["tmp_a"]);
      expect(await listed({ include_tables: ["public.%"] })).toEqual([]);
    });

    test("names of any kind are kept and can be read", async () => {
      const names = [
        'we"ird',
        "new\nline",
        "__proto__",
        "ünï☃",
        "a.b",
        "select",
        "%",
        "constructor",
        "back\\slash",
      ];
      const quoted = names.map((name) => `"${name.replaceAll('"', '""')}"`);
      const columns = quoted.map(
        (column, index) => `${column} int${index === 0 ? " PRIMARY KEY" : ""}`,
      );
      const database = await createDatabase(`
        CREATE SCHEMA "S ""1"""; GRANT USAGE ON SCHEMA "S ""1""" TO ${reader};
        ${quoted.map((name) => `CREATE TABLE "S ""1""".${name} (${columns})`).join(";")};
        ${quoted.map((name) => `INSERT INTO "S ""1""".${name} VALUES (${names.map((_, index) => index)})`).join(";")};
        GRANT SELECT ON ALL TABLES IN SCHEMA "S ""1""" TO ${reader}`);
      await using run = createRun(database, { schemas: ['S "1"'] });
      const streams = await collect(run.discover());
      expect(streams.map(({ name }) => name).sort()).toEqual([...names].sort());
      for (const stream of streams) {
        expect(Object.keys(properties(stream))).toEqual(names);
        const [row] = rowsOf(
          await collect(run.read({ ...stream, syncMode: "incremental", cursorField: "__proto__" })),
        );
        expect(Object.entries(row ?? {})).toEqual(names.map((name, index) => [name, index]));
      }
    });

    test("tables that the role may not read are skipped with a warning; single columns may be granted", async () => {
      const database = await createDatabase("CREATE TABLE open (id int PRIMARY KEY)");
      await database.query(`
        CREATE TABLE closed (id int); CREATE TABLE partly (id int PRIMARY KEY, a int, b int); GRANT SELECT (a) ON partly TO ${reader};
        CREATE SCHEMA hidden; CREATE TABLE hidden.t (id int); GRANT SELECT ON hidden.t TO ${reader}; INSERT INTO partly VALUES (1, 2, 3)`);
      await using run = createRun(database, { schemas: [] });
      const streams = await collect(run.discover());
      expect(streams.map(({ name, primaryKey }) => [name, primaryKey])).toEqual([
        ["open", ["id"]],
        ["partly", []],
      ]);
      expect(run.logged.map(({ fields }) => fields)).toEqual([
        { stream: "hidden.t", reason: "PERMISSION_DENIED: no right to select" },
        { stream: "public.closed", reason: "PERMISSION_DENIED: no right to select" },
      ]);
      expect(rowsOf(await collect(run.read(fullRefresh("partly"))))).toEqual([{ a: 2 }]);
      await expect(collect(run.read(fullRefresh("closed")))).rejects.toMatchObject({
        code: "PERMISSION_DENIED",
        details: { stream: "public.closed" },
      });
      await expect(collect(run.read(fullRefresh("gone")))).rejects.toMatchObject({
        code: "STREAM_UNKNOWN",
      });
      expect(rowsOf(await collect(run.read(fullRefresh("open"))))).toEqual([]);
    });

    test("of two names that differ by case one is listed, the other warned of", async () => {
      const database = await createDatabase('CREATE TABLE users (); CREATE TABLE "Users" ()');
      await using run = createRun(database);
      expect((await collect(run.discover())).map(({ name }) => name)).toEqual(["Users"]);
      expect(run.logged).toMatchObject([{ fields: { stream: "public.users" } }]);
    });

    test("6,000 tables are listed, 6,001 are too many, patterns bring them back", async (context) => {
      skipUnlessWhole(context);
      const database = await createDatabase(`
        DO $$ BEGIN FOR i IN 1..6000 LOOP EXECUTE format('CREATE TABLE t%s (id int, a text)', i); END LOOP; END $$`);
      await using run = createRun(database);
      expect(await collect(run.discover())).toHaveLength(6000);
      await database.query(`CREATE TABLE one_more (id int); GRANT SELECT ON one_more TO ${reader}`);
      await expect(collect(run.discover())).rejects.toMatchObject({
        code: "TOO_MANY_TABLES",
        details: { found: 6001, limit: 6000, hint: expect.stringContaining("include_tables") },
      });
      await using narrowed = createRun(database, { exclude_tables: ["public.one*"] });
      expect(await collect(narrowed.discover())).toHaveLength(6000);
    });
  });

  describe("in the sandbox", () => {
    test("a worker without network and password reads a table; what JSON cannot hold is nulled and counted", async () => {
      const database = await createDatabase(`
        CREATE TABLE t (id int8 PRIMARY KEY, n numeric, at timestamptz, note text);
        INSERT INTO t VALUES (9007199254740993, 1.10, '2026-01-02 03:04:05.123456Z', '${password.replaceAll("'", "''")}'),
          (9007199254740994, 'NaN', 'infinity', 'plain')`);
      await using host = createHost({ settings: { allowNetworks: ["127.0.0.1/32"] } });
      const connector = { name: "postgres", url: new URL("./index.ts", import.meta.url).href };
      const config = {
        host: server.host,
        port: server.port,
        database: database.name,
        username: reader,
        password,
        ssl_mode: "require",
      };
      expect(await host.check(connector, config)).toEqual({ status: "succeeded" });
      expect(await host.check(connector, { ...config, password: "wrong-password" })).toMatchObject({
        error: { code: "CREDENTIALS_REJECTED" },
      });
      const streams = await host.discover(connector, config);
      const catalog = {
        streams: streams.map((stream) => ({
          stream,
          sync_mode: "incremental" as const,
          cursor_field: ["id"],
        })),
      };
      const sink = createMemorySink();
      const summary = await host.read(connector, { config, catalog }, sink);
      const text = sink.events
        .flatMap((event) => (event.type === "records" ? [event.text] : []))
        .join("");
      expect(summary).toMatchObject({ status: "succeeded", recordCount: 2, nulledCount: 2 });
      expect(text).toContain('"id":9007199254740993,"n":1.10,"at":"2026-01-02T03:04:05.123456Z"');
      expect(text).not.toContain("q7Zt3LmX9aRk");
      expect(sink.state("public.t")).toEqual({
        mode: "incremental",
        cursor_field: "id",
        cursor: "9007199254740994",
      });
    });
  });

  describe("session", () => {
    test("check works, and says when there is nothing to read", async () => {
      await using run = createRun(await createDatabase("CREATE TABLE t (id int)"));
      await run.check();
      await using empty = createRun(await createDatabase("SELECT 1"));
      await expect(empty.check()).rejects.toMatchObject({ code: "DATABASE_UNUSABLE" });
    });

    test("the password never comes to the connector's side", async () => {
      await using run = createRun(await createDatabase("CREATE TABLE t (id int PRIMARY KEY)"));
      await collect(run.discover());
      await collect(run.read(fullRefresh("t")));
      expect(run.received().length).toBeGreaterThan(100);
      expect(run.secrets.contains(run.received())).toBe(false);
    });

    test("a table is read in three round trips: it is described as its transaction begins", async () => {
      await using run = createRun(await createDatabase("CREATE TABLE t (id int PRIMARY KEY)"));
      await collect(run.read(fullRefresh("t")));
      // "ReadyForQuery": the server waits for the next message, in a transaction or not.
      const waits = run
        .received()
        .toString("latin1")
        .matchAll(/Z\0\0\0\x05([ITE])/g);
      // BEGIN with the description, types (once a session), COPY, ROLLBACK.
      expect([...waits].map(([, status]) => status).join("")).toMatch(/ITTTI$/);
    });

    test("a server that says nothing for too long is given up, however long the whole takes", async () => {
      const database = await createDatabase("CREATE TABLE t (id int)");
      await using run = createRun(database);
      const session = await openSession(run.ctx as never);
      const copy = (query: string) =>
        collect(
          inSnapshot(session, () =>
            copyRows(session, query, {
              decoded: [],
              columns: [],
              kept: [],
              maxRows: 10,
              maxSilenceMs: 100,
            }),
          ),
        );
      expect(await copy("SELECT FROM generate_series(1, 25)")).toHaveLength(3);
      await expect(copy("SELECT FROM pg_sleep(1000)")).rejects.toMatchObject({
        code: "PROVIDER_TIMEOUT",
      });
    });

    test("cancelling ends a read at once", async () => {
      const database = await createDatabase(
        "CREATE VIEW t AS SELECT generate_series(1, 100000000) AS id",
      );
      await using run = createRun(database);
      const reading = (async () => {
        for await (const _ of run.read(fullRefresh("t"))) run.cancel();
      })();
      await expect(reading).rejects.toMatchObject({ code: "CANCELLED" });
    });

    test("a session that the server ends fails its stream only: the next one gets a new session", async () => {
      // More than what lies between the server and its reader.
      const database = await createDatabase(
        "CREATE TABLE t (id int PRIMARY KEY, v text); INSERT INTO t SELECT i, repeat('x', 5000) FROM generate_series(1, 5000) i",
      );
      await using run = createRun(database);
      const reading = (async () => {
        for await (const _ of run.read(fullRefresh("t"))) {
          await database.query(
            `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${reader}' AND datname = current_database()`,
          );
        }
      })();
      await expect(reading).rejects.toMatchObject({
        code: expect.stringMatching(/PROVIDER_UNAVAILABLE|CONNECTION_FAILED/),
      });
      expect(rowsOf(await collect(run.read(fullRefresh("t"))))).toHaveLength(5000);
    });

    test("a view that fails names no value of the data", async () => {
      const database = await createDatabase(
        "CREATE TABLE s (v text); INSERT INTO s VALUES ('private value'); CREATE VIEW t AS SELECT v::int AS id FROM s",
      );
      const failure: unknown = await readAll(database, fullRefresh("t")).catch(
        (error: unknown) => error,
      );
      expect(failure).toMatchObject({
        code: "REQUEST_REJECTED",
        details: { reason: "SQLSTATE 22P02" },
      });
      expect(String(failure)).not.toContain("private");
    });
  });
});

const sequence = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

/**
 * Whatever the checkpoint that a run is broken off at: what was out before it and what comes after
 * is everything, once.
 */
async function expectResumable(
  database: PostgresDatabase,
  stream: SelectedStream,
  outputs: readonly Output<State>[],
  settings: Settings,
) {
  const all = ids(rowsOf(outputs));
  const seen: number[] = [];
  for (const output of outputs) {
    if (output.type === "records") seen.push(...ids(output.rows));
    else if (output.type === "checkpoint")
      expect([
        ...seen,
        ...ids((await readAll(database, stream, settings, output.state)).rows),
      ]).toEqual(all);
  }
}
