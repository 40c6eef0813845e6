/** Changes of tables that the log has no entry of are noticed by the next run. */
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import {
  findPostgres,
  type PostgresDatabase,
  type PostgresServer,
} from "../../../../simulators/postgres-server.ts";
import { choose } from "../../../../tests/effort.ts";
import {
  createLogTables,
  logReader,
  sorted,
  startLogServer,
  wholeTable,
} from "../../../../tests/log-tables.ts";
import type { PostgresSettings } from "../../../../tests/postgres-run.ts";
import { soon } from "../../../../tests/soon.ts";

const login = logReader;
let server: PostgresServer;
let slots = 0;

beforeAll(async () => {
  if (findPostgres() === undefined) return;
  server = await startLogServer();
});
afterAll(() => server?.stop());

const allTables = "CREATE PUBLICATION svc FOR ALL TABLES WITH (publish_via_partition_root = true)";

/** A database that was read once, with what came of it. */
async function open(
  sql: string,
  { publication = allTables, ...more }: { publication?: string; max_lag_mb?: number } = {},
) {
  const database = await server.createDatabase();
  await database.query(`${sql}; ${publication};
    ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO ${login.username}; GRANT SELECT ON ALL TABLES IN SCHEMA public TO ${login.username}`);
  const slot = `svc_unlogged_${++slots}`;
  const settings: PostgresSettings = { replication: { publication: "svc", slot, ...more } };
  const source = { server, database, login, settings };
  const tables = createLogTables(source);
  expect(await tables.run()).toEqual([]);
  return {
    database,
    slot,
    tables,
    async expectSame(name = "t") {
      expect(sorted(tables.rows(name))).toEqual(sorted(await wholeTable(source, name)));
    },
  };
}

/** Statements that are parted by two semicolons are sent one by one. */
async function execute(database: PostgresDatabase, sql: string): Promise<void> {
  for (const statement of sql.split(";;")) await database.query(statement);
}

const codesOf = (failures: readonly unknown[]) =>
  failures.map((error) => (error as { code?: string }).code);
const reasonOf = (error: unknown) =>
  String((error as { details?: Record<string, unknown> }).details?.reason);

/** Each kind of thing that happens to a table is tried once in a quick run, all of them in CI. */
const sampled = <Case>(cases: readonly Case[]): readonly Case[] =>
  cases.slice(0, choose({ quick: 1, whole: cases.length }));

/** Reads until the table is the source's: once, or anew after that was told. */
async function expectAnew(
  { tables, expectSame }: Awaited<ReturnType<typeof open>>,
  reason: RegExp | undefined,
): Promise<void> {
  const failures = await tables.run();
  expect(codesOf(failures)).toEqual(reason ? ["CHANGES_LOST"] : []);
  if (reason) {
    expect(reasonOf(failures[0])).toMatch(reason);
    expect(await tables.run()).toEqual([]);
  }
  await expectSame();
  expect(await tables.run()).toEqual([]);
  await expectSame();
}

describe.skipIf(findPostgres() === undefined)("what the log does not tell", () => {
  const plain = "CREATE TABLE t (id int PRIMARY KEY, v int); INSERT INTO t VALUES (1, 1), (2, 2)";

  test.each(
    sampled([
      [
        "was dropped, and made anew",
        "DROP TABLE t; CREATE TABLE t (id int PRIMARY KEY, v int); INSERT INTO t VALUES (3, 3)",
        /another table of the same name/,
      ],
      [
        "was renamed, and another one has its name",
        "ALTER TABLE t RENAME TO old; CREATE TABLE t (id int PRIMARY KEY, v int); INSERT INTO t VALUES (2, 5)",
        /another table of the same name/,
      ],
      [
        "had another name for a while, in which it was changed",
        "ALTER TABLE t RENAME TO old; UPDATE old SET v = 9 WHERE id = 1; INSERT INTO old VALUES (4, 4); ALTER TABLE old RENAME TO t; DELETE FROM t WHERE id = 2",
        undefined,
      ],
    ]),
  )("a table that %s is the source's", async (_, sql, reason) => {
    const one = await open(plain);
    await execute(one.database, sql);
    await expectAnew(one, reason);
  });

  test("a table that takes another one's name during a run is told of by its first change", async () => {
    const one = await open(plain);
    const waiting = one.tables.run(undefined, undefined, 3_600_000);
    const isRead = `SELECT FROM pg_replication_slots WHERE slot_name = '${one.slot}' AND active`;
    await vi.waitFor(async () => expect(await one.database.query(isRead)).toHaveLength(1), soon);
    await execute(
      one.database,
      "BEGIN; DROP TABLE t; CREATE TABLE t (id int PRIMARY KEY, v int); INSERT INTO t VALUES (3, 3); COMMIT",
    );
    expect(reasonOf((await waiting)[0])).toMatch(/another table has its name/);
    await expectAnew(one, undefined);
  });

  test("a state of before, which says nothing of the table, is gone on with", async () => {
    const one = await open(plain);
    const { table: _, ...before } = one.tables.states.get("t") as { table?: object };
    one.tables.states.set("t", before as never);
    await execute(one.database, "INSERT INTO t VALUES (3, 3)");
    const read = one.tables.readCount;
    await expectAnew(one, undefined);
    expect(one.tables.readCount).toBe(read + 1);
    expect(one.tables.states.get("t")).toMatchObject({ table: { oid: expect.any(Number) } });
  });

  describe("of partitions:", () => {
    const parted = `
      CREATE TABLE t (id int, p int, v text, PRIMARY KEY (id, p)) PARTITION BY LIST (p);
      CREATE TABLE t1 PARTITION OF t FOR VALUES IN (1); CREATE TABLE t2 PARTITION OF t FOR VALUES IN (2);
      INSERT INTO t VALUES (1, 1, 'a'), (2, 2, 'b')`;
    const like = "(id int NOT NULL, p int NOT NULL, v text)";
    const attach = "ALTER TABLE t ATTACH PARTITION t3 FOR VALUES IN (3)";

    test.each(
      sampled([
        [
          "one that was attached with its rows",
          `CREATE TABLE t3 ${like}; INSERT INTO t3 VALUES (30, 3, 'c'); ${attach}`,
          /attached with its rows: public\.t3/,
        ],
        [
          "one that was made of a query and attached in one transaction",
          `BEGIN; CREATE TABLE t3 AS SELECT 30 AS id, 3 AS p, 'c'::text AS v; ALTER TABLE t3 ALTER id SET NOT NULL, ALTER p SET NOT NULL; ${attach}; COMMIT`,
          /attached with its rows: public\.t3/,
        ],
        [
          "one with partitions of its own that was attached",
          `CREATE TABLE t3 ${like} PARTITION BY RANGE (id); CREATE TABLE t31 PARTITION OF t3 DEFAULT; INSERT INTO t3 VALUES (30, 3, 'c'); ${attach}`,
          /attached with its rows: public\.t3/,
        ],
        [
          "one whose rows were moved there from others before it was attached",
          `CREATE TABLE t3 ${like}; BEGIN; INSERT INTO t3 SELECT id, 3, v FROM t WHERE id = 1; DELETE FROM t WHERE id = 1; ${attach}; COMMIT`,
          /attached with its rows: public\.t3/,
        ],
        [
          "one that was made as a partition, filled and changed since",
          "CREATE TABLE t3 PARTITION OF t FOR VALUES IN (3); INSERT INTO t VALUES (30, 3, 'c'); ALTER TABLE t3 ADD CHECK (id > 0); UPDATE t SET v = 'd' WHERE p = 3",
          undefined,
        ],
        [
          "one that was attached without rows",
          `BEGIN; CREATE TABLE t3 (LIKE t INCLUDING ALL); INSERT INTO t3 VALUES (30, 3, 'c'); DELETE FROM t3; ${attach}; COMMIT`,
          undefined,
        ],
        ["one that was detached", "ALTER TABLE t DETACH PARTITION t1", /detached or dropped/],
        ["one that was dropped", "DROP TABLE t1", /detached or dropped/],
        [
          "one that was changed while it was detached",
          "ALTER TABLE t DETACH PARTITION t1; UPDATE t1 SET v = 'z'; ALTER TABLE t ATTACH PARTITION t1 FOR VALUES IN (1)",
          /detached or dropped/,
        ],
      ]),
    )("%s", async (_, sql, reason) => {
      const one = await open(parted);
      await execute(one.database, sql);
      await expectAnew(one, reason);
    });

    test("one that was truncated alone is warned of", async () => {
      const one = await open(parted);
      await execute(one.database, "TRUNCATE t2");
      expect(await one.tables.run()).toEqual([]);
      expect(one.tables.logged.join()).toMatch(/public\.t2 has new files\. If it was truncated/);
    });
  });

  describe("of the publication:", () => {
    const named = "CREATE PUBLICATION svc FOR TABLE t";
    const changed = /the publication was changed or made anew, or the table was not in it/;

    test.each(
      sampled([
        [
          "the table was not in it for a while",
          "ALTER PUBLICATION svc DROP TABLE t ;; INSERT INTO t VALUES (3, 3) ;; ALTER PUBLICATION svc ADD TABLE t",
          changed,
        ],
        [
          "it was dropped and made anew",
          `DROP PUBLICATION svc ;; INSERT INTO t VALUES (3, 3) ;; ${named}`,
          changed,
        ],
        [
          "it left rows out for a while",
          "ALTER PUBLICATION svc SET TABLE t WHERE (id > 5) ;; INSERT INTO t VALUES (3, 3) ;; ALTER PUBLICATION svc SET TABLE t",
          changed,
        ],
        [
          "it left columns out for a while",
          "ALTER PUBLICATION svc SET TABLE t (id) ;; INSERT INTO t VALUES (3, 3) ;; ALTER PUBLICATION svc SET TABLE t",
          changed,
        ],
        [
          "it left deletions out for a while",
          "ALTER PUBLICATION svc SET (publish = 'insert') ;; DELETE FROM t WHERE id = 1 ;; ALTER PUBLICATION svc SET (publish = 'insert, update, delete, truncate')",
          changed,
        ],
        [
          "another table came into it",
          "CREATE TABLE other (id int PRIMARY KEY) ;; ALTER PUBLICATION svc ADD TABLE other ;; INSERT INTO t VALUES (3, 3)",
          undefined,
        ],
      ]),
    )("%s", async (_, sql, reason) => {
      const one = await open(plain, { publication: named });
      await execute(one.database, sql);
      await expectAnew(one, reason);
    });

    test("of schemas, whose table was moved away and back", async ({ skip }) => {
      const database = await server.createDatabase();
      const [{ version } = {}] = await database.query(
        "SELECT current_setting('server_version_num')::int AS version",
      );
      if (Number(version) < 150_000) skip("PostgreSQL 15 and later publish schemas");
      const one = await open(plain, {
        publication: "CREATE PUBLICATION svc FOR TABLES IN SCHEMA public",
      });
      await execute(one.database, "INSERT INTO t VALUES (3, 3)");
      await expectAnew(one, undefined);
      await execute(
        one.database,
        "ALTER PUBLICATION svc DROP TABLES IN SCHEMA public ;; INSERT INTO t VALUES (4, 4) ;; ALTER PUBLICATION svc ADD TABLES IN SCHEMA public",
      );
      await expectAnew(one, changed);
    });

    test.each(
      sampled([
        ["ALTER PUBLICATION svc DROP TABLE t", /ALTER PUBLICATION svc ADD TABLE "public"\."t"/],
        ["ALTER PUBLICATION svc SET TABLE t WHERE (id > 5)", /leaves rows or columns/],
      ]),
    )("a stream that was selected is not read after %s, and says why", async (sql, reason) => {
      const one = await open(plain, { publication: named });
      const stream = await one.tables.discover();
      await execute(one.database, `${sql} ;; INSERT INTO t VALUES (3, 3)`);
      const failures = await one.tables.run(undefined, undefined, undefined, stream);
      expect(codesOf(failures)).toEqual(["DATABASE_UNUSABLE"]);
      expect(reasonOf(failures[0])).toMatch(reason);
      await execute(one.database, "ALTER PUBLICATION svc SET TABLE t");
      expect(await one.tables.run()).toEqual([]);
      await one.expectSame();
    });
  });

  describe("of columns:", () => {
    const wide = `
      CREATE TABLE t (id int PRIMARY KEY, v int, name varchar(5), body text); ALTER TABLE t ALTER body SET STORAGE EXTERNAL;
      INSERT INTO t SELECT i, i, 'n' || i, repeat(md5(i::text), 200) FROM generate_series(1, 30) i`;
    const write = (newer = "v + 1", name = "name") =>
      `UPDATE t SET v = ${newer} WHERE id % 5 = 0; UPDATE t SET id = id + 100 WHERE id % 7 = 0 AND id < 100; DELETE FROM t WHERE id % 11 = 0;
       INSERT INTO t (id, v, ${name}, body) SELECT 200 + max(id), '0', 'new', 'x' FROM t`;
    test.each(
      sampled([
        [
          "one that came with a default",
          "ALTER TABLE t ADD c int DEFAULT 5 NOT NULL",
          true,
          write(),
        ],
        ["one of another type", "ALTER TABLE t ALTER v TYPE bigint USING v * 100", true, write()],
        [
          "one that was written anew",
          "ALTER TABLE t ALTER v TYPE int USING v * 100",
          true,
          write(),
        ],
        [
          "one that is written otherwise",
          "ALTER TABLE t ALTER v TYPE text USING 'v' || v",
          true,
          write("v || '!'"),
        ],
        [
          "one that went and came again",
          "ALTER TABLE t DROP v; ALTER TABLE t ADD v int DEFAULT 7",
          true,
          write(),
        ],
        ["one that was renamed", "ALTER TABLE t RENAME name TO label", true, write("v", "label")],
        ["one that may be longer", "ALTER TABLE t ALTER name TYPE varchar(20)", false, write()],
        ["a table that was written anew as it is", "VACUUM FULL t", false, write()],
        ["another default", "ALTER TABLE t ALTER v SET DEFAULT 3", false, write()],
      ]),
    )("%s, between changes", async (_, sql, isCopied, after) => {
      const one = await open(wide);
      await execute(one.database, `${write()};;${sql};;${after}`);
      expect(await one.tables.run()).toEqual([]);
      await one.expectSame();
      const copied = "All rows are copied once more, beside their changes.";
      expect(one.tables.logged.includes(copied)).toBe(isCopied);
    });

    test("that came while runs are cut off anywhere", async () => {
      const one = await open(wide, {});
      for (let cut = 0; cut < 14; cut++) {
        const sql =
          cut % 3 === 0
            ? `ALTER TABLE t ADD c${cut} int DEFAULT ${cut} NOT NULL`
            : cut % 3 === 1
              ? "ALTER TABLE t ALTER v TYPE int USING v * 3 % 1000"
              : "SELECT 1";
        await execute(one.database, `${write()};;${sql};;${write()}`);
        let left = cut % 7;
        await one.tables.run(() => left-- <= 0);
        if (cut % 4 === 0) {
          expect(await one.tables.run()).toEqual([]);
          await one.expectSame();
        }
      }
      expect(await one.tables.run()).toEqual([]);
      await one.expectSame();
    });

    test("one of the key begins anew", async () => {
      const one = await open(
        "CREATE TABLE t (id int PRIMARY KEY, v int); INSERT INTO t VALUES (1, 1)",
      );
      await execute(one.database, "ALTER TABLE t ALTER id TYPE bigint USING id * 10");
      await expectAnew(one, /a column of its key is another one: id/);
    });
  });

  test("a table that others inherit from is not read from the log: a query has their rows", async () => {
    const one = await open(
      `${plain}; CREATE TABLE heir (more int) INHERITS (t); INSERT INTO heir VALUES (7, 7, 7)`,
    );
    expect(one.tables.states.has("t")).toBe(false);
    expect(one.tables.logged.join()).toContain("no changes of this table");
  });

  test("a server that has gone back to before a state is told of, and read anew", async () => {
    const one = await open(plain);
    const state = one.tables.states.get("t") as object;
    one.tables.states.set("t", { ...state, lsn: "FF/0" } as never);
    await execute(one.database, "DELETE FROM t WHERE id = 1");
    await expectAnew(one, /the server has gone back/);
  });

  describe("of the slot:", () => {
    const fill = (megabytes: number) =>
      `CREATE TABLE f AS SELECT repeat(md5(i::text), 30) x FROM generate_series(1, ${megabytes} * 1100) i; DROP TABLE f`;

    test("what is read and saved does not count for max_lag_mb, although the server keeps it", async () => {
      const one = await open(plain, { max_lag_mb: 2 });
      await execute(one.database, fill(1));
      expect(await one.tables.run()).toEqual([]);
      await execute(one.database, fill(1));
      expect(await one.tables.run()).toEqual([]);
      await execute(one.database, fill(4));
      const failures = await one.tables.run();
      expect(reasonOf(failures[0])).toMatch(/more than max_lag_mb/);
    });

    test("of a first copy that takes longer than max_lag_mb goes on, and is told of", async () => {
      const one = await open(plain, { max_lag_mb: 2 });
      const state = one.tables.states.get("t") as object;
      const rows = { mode: "full_refresh", key: ["id"], after: ["1"] };
      one.tables.states.set("t", { ...state, rows } as never);
      await execute(one.database, `INSERT INTO t VALUES (3, 3);;${fill(4)}`);
      expect(await one.tables.run()).toEqual([]);
      await one.expectSame();
      expect(one.tables.logged.join()).toMatch(/It stays, since rows are still copied/);
    });

    test("its lag is what the server keeps, also for a transaction that is open", async () => {
      const one = await open(plain);
      const holding = one.database.query(
        "BEGIN; INSERT INTO t VALUES (50, 1); SELECT pg_sleep(3); COMMIT",
      );
      await vi.waitFor(
        async () =>
          expect(
            await one.database.query("SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep'"),
          ).toHaveLength(1),
        soon,
      );
      for (let run = 0; run < 3; run++) {
        await execute(one.database, fill(2));
        expect(await one.tables.run()).toEqual([]);
      }
      const lags = one.tables.fields.flatMap(({ lagBytes }) => (lagBytes as number) ?? []);
      expect(lags.at(-1)).toBeGreaterThan(6_000_000);
      await holding;
    });
  });

  describe("a row that is larger", () => {
    const big =
      "CREATE TABLE big (id int PRIMARY KEY, b bytea); CREATE TABLE a (id int PRIMARY KEY)";
    const insert = (length: number) =>
      `INSERT INTO big SELECT 1, decode(repeat('ab', ${length}), 'hex')`;

    test("than a message may be is passed over where its table is not read", async () => {
      const one = await open(`${plain}; ${big}`);
      await execute(
        one.database,
        `INSERT INTO t VALUES (3, 3);;${insert(34_000_000)};;INSERT INTO t VALUES (4, 4)`,
      );
      for (let run = 0; run < 2; run++) expect(await one.tables.run(undefined, "t")).toEqual([]);
      await one.expectSame();
    });

    test.each(
      sampled([
        ["than a message may be", 34_000_000],
        ["than a row may be", 20_000_000],
      ]),
    )("%s fails its own stream alone, and says what to do", async (_, length) => {
      const one = await open(`${plain}; ${big}`);
      await execute(
        one.database,
        `INSERT INTO a VALUES (1);;${insert(length)};;INSERT INTO a VALUES (2);;INSERT INTO t VALUES (4, 4)`,
      );
      for (let run = 0; run < 2; run++) {
        const failures = await one.tables.run();
        expect(codesOf(failures)).toEqual(["RECORD_TOO_LARGE"]);
        expect(failures[0]).toMatchObject({
          details: {
            stream: "public.big",
            problem: expect.stringContaining("read the stream anew"),
          },
        });
        await one.expectSame();
        await one.expectSame("a");
      }
    });
  });
});
