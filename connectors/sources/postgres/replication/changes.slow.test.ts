/** Reading from the log of a real server; what is read is applied to a table of this test. */
import { setTimeout as delay } from "node:timers/promises";
import type { Clock } from "svc-connectors";
import { createScaledClock } from "svc-connectors/host";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import {
  findPostgres,
  type PostgresDatabase,
  type PostgresServer,
} from "../../../../simulators/postgres-server.ts";
import {
  createLogTables,
  logReader,
  sorted,
  startLogServer,
  wholeTable,
} from "../../../../tests/log-tables.ts";
import { createPostgresRun, type PostgresSettings } from "../../../../tests/postgres-run.ts";
import { soon } from "../../../../tests/soon.ts";

const login = logReader;
let server: PostgresServer;
let slots = 0;

beforeAll(async () => {
  if (findPostgres() === undefined) return;
  server = await startLogServer();
  const admin = await server.createDatabase();
  await admin.query(`CREATE ROLE plain_reader LOGIN PASSWORD '${login.password}'`);
});
afterAll(() => server?.stop());

/** A database with a publication of all its tables. */
async function createDatabase(sql: string): Promise<PostgresDatabase> {
  const database = await server.createDatabase();
  await database.query(
    `${sql}; CREATE PUBLICATION svc FOR ALL TABLES WITH (publish_via_partition_root = true);
     GRANT SELECT ON ALL TABLES IN SCHEMA public TO ${login.username}, plain_reader`,
  );
  return database;
}

/** Whole numbers below a bound, the same for the same seed. */
function createRandom(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** Commits wait for a standby server. Without a name: for none. */
async function setStandby(database: PostgresDatabase, name: string): Promise<void> {
  await database.query(`ALTER SYSTEM SET synchronous_standby_names = '${name}'`);
  await database.query("SELECT pg_reload_conf()");
}

/** Until a commit waits for it. */
async function untilWaiting(database: PostgresDatabase): Promise<void> {
  const waits = "SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
  await vi.waitFor(async () => expect(await database.query(waits)).toHaveLength(1), soon);
}

const newSlot = () => `svc_test_${++slots}`;

const createTables = (database: PostgresDatabase, settings: PostgresSettings, clock?: Clock) =>
  createLogTables({ server, database, login, settings, clock });

const wholeOf = (database: PostgresDatabase, name: string) =>
  wholeTable({ server, database, login }, name);

describe.skipIf(findPostgres() === undefined)("changes from the log", () => {
  test("a run that may wait ends with the first transaction that changes a row, or without one when its time is over", async () => {
    const database = await createDatabase("CREATE TABLE one (id int PRIMARY KEY)");
    const slot = newSlot();
    const tables = createTables(database, { replication: { publication: "svc", slot } });
    await tables.run();
    await tables.run(undefined, undefined, 1);
    expect(tables.readCount).toBe(0);
    const waiting = tables.run(undefined, undefined, 3_600_000);
    const isRead = `SELECT FROM pg_replication_slots WHERE slot_name = '${slot}' AND active`;
    await vi.waitFor(async () => expect(await database.query(isRead)).toHaveLength(1), soon);
    await database.query("CREATE TABLE two (id int)");
    await database.query("BEGIN; INSERT INTO one VALUES (1); INSERT INTO one VALUES (2); COMMIT");
    expect(await waiting).toEqual([]);
    expect(tables.rows("one").map(({ id }) => id)).toEqual([1, 2]);
    await database.query("INSERT INTO one VALUES (3)");
    await tables.run(undefined, undefined, 3_600_000);
    expect(tables.readCount).toBe(3);
  });

  test("a run that may wait gets its turn when another reader of the slot has ended", async () => {
    const database = await createDatabase("CREATE TABLE one (id int PRIMARY KEY)");
    const settings = { replication: { publication: "svc", slot: newSlot() } };
    const [first, second] = [createTables(database, settings), createTables(database, settings)];
    await first.run();
    second.states.set("one", first.states.get("one"));
    const haveBegun = (count: number) =>
      vi.waitFor(async () => {
        const sessions = `SELECT FROM pg_stat_activity WHERE backend_type = 'walsender' AND datname = '${database.name}' AND query LIKE 'START_REPLICATION%'`;
        expect(await database.query(sessions)).toHaveLength(count);
      }, soon);
    const waiting = first.run(undefined, undefined, 3_600_000);
    await haveBegun(1);
    const behind = second.run(undefined, undefined, 3_600_000);
    await haveBegun(2);
    await database.query("INSERT INTO one VALUES (1)");
    expect(await waiting).toEqual([]);
    expect(await behind).toEqual([]);
    expect(second.rows("one")).toEqual([{ id: 1 }]);
  });

  test("inserts, updates, deletes, changed keys and large values that stay come to the table", async () => {
    const database = await createDatabase(`
      CREATE TABLE t (id int PRIMARY KEY, n numeric, body text);
      INSERT INTO t SELECT i, i * 1.50, repeat(md5(i::text), 500) FROM generate_series(1, 100) i`);
    await database.query("ALTER TABLE t ALTER body SET STORAGE EXTERNAL");
    const settings = { replication: { publication: "svc", slot: newSlot() } };
    const tables = createTables(database, settings);
    expect(await tables.run()).toEqual([]);
    expect(sorted(tables.rows("t"))).toEqual(sorted(await wholeOf(database, "t")));
    await database.query(`
      INSERT INTO t VALUES (1000, 1, 'new');
      UPDATE t SET n = 0 WHERE id <= 10;
      UPDATE t SET id = id + 500 WHERE id BETWEEN 5 AND 15;
      DELETE FROM t WHERE id BETWEEN 50 AND 60;
      UPDATE t SET body = 'short' WHERE id = 70`);
    expect(await tables.run()).toEqual([]);
    expect(sorted(tables.rows("t"))).toEqual(sorted(await wholeOf(database, "t")));
    const before = tables.readCount;
    expect(await tables.run()).toEqual([]);
    expect(tables.readCount).toBe(before);
  });

  describe("a row of which the log lacks a large value", () => {
    const large = `
      CREATE TABLE a (id int PRIMARY KEY); CREATE TABLE t (id int PRIMARY KEY, v int, body text); ALTER TABLE t ALTER body SET STORAGE EXTERNAL;
      INSERT INTO t SELECT i, 0, repeat(md5(i::text), 500) FROM generate_series(1, 20) i`;

    test("is as it was when the run began, whatever others do to it meanwhile", async () => {
      const database = await createDatabase(large);
      const tables = createTables(database, {
        replication: { publication: "svc", slot: newSlot() },
      });
      await tables.run();
      await database.query("UPDATE t SET v = 1; INSERT INTO a VALUES (1)");
      const before = await wholeOf(database, "t");
      let isFirst = true;
      const writeBetween = async () => {
        if (isFirst)
          await database.query(
            "BEGIN; INSERT INTO a VALUES (2); UPDATE t SET v = 2, body = 'newer' WHERE id < 10; DELETE FROM t WHERE id = 20; COMMIT",
          );
        isFirst = false;
        return false;
      };
      expect(await tables.run(writeBetween)).toEqual([]);
      expect([tables.rows("a"), sorted(tables.rows("t"))]).toEqual([[{ id: 1 }], sorted(before)]);
      expect(await tables.run()).toEqual([]);
      expect(tables.rows("a")).toHaveLength(2);
      expect(sorted(tables.rows("t"))).toEqual(sorted(await wholeOf(database, "t")));
    });

    test.each([
      ["is read from a snapshot that is held", "repeat(md5('1'), 500)", "", 1],
      ["lies nowhere, and no snapshot is held", "'short'", "", 0],
      [
        "is in the log, and no snapshot is held",
        "repeat(md5('1'), 500)",
        "REPLICA IDENTITY FULL",
        0,
      ],
    ])("%s", async (_, body, identity, heldCount) => {
      const database = await createDatabase(`
        CREATE TABLE t (id int, part int, v int, body text, PRIMARY KEY (id, part)) PARTITION BY LIST (part);
        CREATE TABLE t1 PARTITION OF t FOR VALUES IN (1); ALTER TABLE t1 ALTER body SET STORAGE EXTERNAL;
        INSERT INTO t VALUES (1, 1, 0, ${body}); ${identity && `ALTER TABLE t ${identity}; ALTER TABLE t1 ${identity}`}`);
      const tables = createTables(database, {
        replication: { publication: "svc", slot: newSlot() },
      });
      await tables.run();
      await database.query("UPDATE t SET v = 1");
      const held: unknown[] = [];
      const look = async () => {
        const sql = `SELECT count(backend_xmin)::int AS held FROM pg_stat_activity WHERE usename = '${login.username}' AND state = 'idle in transaction' AND query NOT LIKE 'COPY%'`;
        held.push((await database.query(sql))[0]?.held);
        return false;
      };
      expect(await tables.run(look)).toEqual([]);
      expect(held[0]).toBe(heldCount);
      expect(tables.rows("t")).toEqual(await wholeOf(database, "t"));
    });

    test("is read once its transaction can be seen, which the log tells before", async () => {
      const database = await createDatabase(large);
      const tables = createTables(database, {
        replication: { publication: "svc", slot: newSlot() },
      });
      await tables.run();
      await database.query("UPDATE t SET v = 1 WHERE id = 1");
      await setStandby(database, "one_that_is_away");
      let committing: Promise<unknown> = Promise.resolve();
      try {
        committing = database.query("SET synchronous_commit = on; UPDATE t SET v = 2 WHERE id = 2");
        await untilWaiting(database);
        expect(tables.logged.join()).not.toContain("standby");
        expect(await tables.run()).toEqual([]);
        expect(tables.logged.join()).toMatch(/A commit waits for .* synchronous_standby_names/);
      } finally {
        await setStandby(database, "");
        await committing;
      }
      expect(await tables.run()).toEqual([]);
      expect(sorted(tables.rows("t"))).toEqual(sorted(await wholeOf(database, "t")));
    });
  });

  test("changes of tables that are still to come are kept, and read again where they are too many", async () => {
    const database = await createDatabase(`
      CREATE TABLE a (id int PRIMARY KEY, v int); INSERT INTO a VALUES (1, 0);
      CREATE TABLE t (id int PRIMARY KEY, body text); INSERT INTO t VALUES (1, '');
      CREATE TABLE z (id int PRIMARY KEY, v int); INSERT INTO z VALUES (1, 0)`);
    const tables = createTables(database, { replication: { publication: "svc", slot: newSlot() } });
    await tables.run();
    // More than 32 MiB of changes.
    await database.query(`
      INSERT INTO t SELECT i, repeat(md5(i::text), 1000) FROM generate_series(2, 1400) i;
      UPDATE z SET v = 1; UPDATE a SET v = 1; DELETE FROM t WHERE id > 50; UPDATE z SET id = 2`);
    expect(await tables.run()).toEqual([]);
    for (const name of ["a", "t", "z"])
      expect(sorted(tables.rows(name)), name).toEqual(sorted(await wholeOf(database, name)));
  });

  describe("a first copy that takes long", () => {
    /** Each look at it is a minute later: a range of rows is read from each snapshot. */
    const createFastClock = (): Clock => {
      let now = Date.now();
      return { now: () => (now += 60_000), sleep: (ms) => delay(ms) };
    };
    const createLong = async (sql: string, { pageSize = 10, mayServerSort = false } = {}) => {
      const database = await createDatabase(sql);
      // It would for tables of this size, and read them at once.
      if (!mayServerSort)
        await database.query(`ALTER DATABASE ${database.name} SET enable_sort = off`);
      const replication = { publication: "svc", slot: newSlot() };
      const settings = { page_size: pageSize, replication };
      return { database, tables: createTables(database, settings, createFastClock()) };
    };
    const many = `
      CREATE TABLE a (id int PRIMARY KEY, v int); INSERT INTO a SELECT i, 0 FROM generate_series(1, 25) i;
      CREATE TABLE t (id int PRIMARY KEY, v int, body text); ALTER TABLE t ALTER body SET STORAGE EXTERNAL;
      INSERT INTO t SELECT i, 0, repeat(md5(i::text), 100) FROM generate_series(1, 400) i;
      CREATE TABLE z (id int PRIMARY KEY, v int); INSERT INTO z SELECT i, 0 FROM generate_series(1, 25) i`;
    const expectSame = async (
      tables: ReturnType<typeof createTables>,
      database: PostgresDatabase,
      names = ["a", "t", "z"],
    ) => {
      for (const name of names)
        expect(sorted(tables.rows(name)), name).toEqual(sorted(await wholeOf(database, name)));
    };

    test("lets go of the rows that die meanwhile", async () => {
      const { database, tables } = await createLong(many);
      const begun = Number((await database.query("SELECT txid_current() AS id"))[0]?.id);
      const oldest: number[] = [];
      const look = async () => {
        await database.query("UPDATE z SET v = v + 1 WHERE id = 1");
        const [{ xmin } = {}] = await database.query(
          "SELECT min(x::text::bigint) AS xmin FROM (SELECT backend_xmin FROM pg_stat_activity WHERE pid <> pg_backend_pid() UNION ALL SELECT xmin FROM pg_replication_slots) one (x)",
        );
        if (xmin !== null) oldest.push(Number(xmin));
        return false;
      };
      expect(await tables.run(look)).toEqual([]);
      expect(oldest.length).toBeGreaterThan(40);
      // Of the ninety transactions that were made meanwhile the last snapshots hold back few.
      expect(Math.max(...oldest)).toBeGreaterThan(begun + 60);
      expect(oldest).toEqual([...oldest].sort((one, other) => one - other));
    });

    test("ends with each table as it is, whichever way its rows have moved between the ranges", async () => {
      const { database, tables } = await createLong(many);
      let writes = 0;
      const write = async () => {
        if (++writes > 60) return false;
        const [low, high] = [writes, 400 - writes];
        await database.query(`
          UPDATE t SET v = v + 1 WHERE id % 10 = ${writes % 10};
          BEGIN; UPDATE t SET id = ${1000 + writes} WHERE id = ${low}; UPDATE z SET v = v + 1; UPDATE a SET v = v + 1; COMMIT;
          UPDATE t SET id = ${-writes} WHERE id = ${high};
          UPDATE t SET id = ${high} WHERE id = ${-writes + 1};
          UPDATE t SET body = 'short ${writes}' WHERE id = ${low + 100};
          DELETE FROM t WHERE id IN (${low + 150}, ${high - 150}, ${5000 + writes - 3});
          INSERT INTO t VALUES (${5000 + writes}, 1, repeat('y', 3000)), (${-1000 - writes}, 1, repeat('x', 3000));
          UPDATE t SET v = v + 1 WHERE id IN (${-1000 - writes}, ${5000 + writes})`);
        return false;
      };
      expect(await tables.run(write)).toEqual([]);
      expect(writes).toBeGreaterThan(60);
      await expectSame(tables, database, ["t", "z"]);
      expect(await tables.run()).toEqual([]);
      await expectSame(tables, database);
    });

    test("goes on behind the last range when it was cut off, while others write", async () => {
      const { database, tables } = await createLong(many);
      for (let cut = 0; cut < 12; cut++) {
        let left = 10;
        await tables.run(async () => {
          await database.query(`
            UPDATE t SET id = id + 1000 WHERE id = (SELECT min(id) + ${cut} FROM t) AND id < 1000;
            UPDATE t SET id = id - 1000 WHERE id = (SELECT max(id) FROM t) AND id > 1000 AND id % 3 = 0;
            DELETE FROM t WHERE id % 97 = ${cut}; UPDATE t SET v = v + 1 WHERE id % 7 = ${cut % 7}; UPDATE a SET v = v + 1`);
          return left-- <= 0;
        });
      }
      expect(await tables.run()).toEqual([]);
      await expectSame(tables, database);
    });

    test("takes what the log tells later, however late a range sees it", async () => {
      const { database, tables } = await createLong(many);
      const committing: Promise<unknown>[] = [];
      let looks = 0;
      const commitLate = async () => {
        if (++looks === 20) {
          await setStandby(database, "one_that_is_away");
          const update = "SET synchronous_commit = on; UPDATE t SET v = 99 WHERE id = 150";
          committing.push(database.query(update));
          await untilWaiting(database);
        }
        if (looks === 60) {
          await setStandby(database, "");
          await Promise.all(committing);
        }
        return false;
      };
      expect(await tables.run(commitLate)).toEqual([]);
      expect(looks).toBeGreaterThan(60);
      expect(tables.rows("t").find(({ id }) => id === 150)).toMatchObject({ v: 99 });
      await expectSame(tables, database);
    });

    test("reads a table from one snapshot where the server would sort it for each range", async () => {
      const sql = `
        CREATE TABLE t (id uuid PRIMARY KEY, v text);
        INSERT INTO t SELECT md5(i::text)::uuid, repeat('x', 200) FROM generate_series(1, 5000) i;
        ANALYZE t; CREATE TABLE other (id int)`;
      const { database, tables } = await createLong(sql, { pageSize: 250, mayServerSort: true });
      const seen = new Set<unknown>();
      const look = async () => {
        await database.query("INSERT INTO other VALUES (1)");
        const [{ xmin } = {}] = await database.query(
          "SELECT min(backend_xmin::text) AS xmin FROM pg_stat_activity WHERE query LIKE 'COPY%'",
        );
        seen.add(xmin);
        return false;
      };
      expect(await tables.run(look, "t")).toEqual([]);
      expect(tables.rows("t")).toHaveLength(5000);
      // One of the first rows, and one of all others.
      expect(seen.size).toBeLessThanOrEqual(3);
    });
  });

  test("every type has the same value by the log as by a query", async () => {
    const database = await createDatabase(`
      CREATE TYPE mood AS ENUM ('sad', 'happy'); CREATE DOMAIN cents AS numeric(12, 2); CREATE TYPE pair AS (a int, b text);
      CREATE TABLE t (id int8 PRIMARY KEY, b bool, s int2, i int4, o oid, f4 float4, f8 float8, n numeric, n2 numeric(10, 3), n0 numeric(30, 0),
        c cents, tx text, vc varchar(20), ch char(5), nm name, by bytea, d date, tm time, tz timetz, ts timestamp, tsz timestamptz, iv interval, u uuid,
        j json, jb jsonb, m mood, p pair, ip inet, r int4range, ia int[], ta text[], tsa timestamptz[], xm xml, bi bit(4), pt point, mo money)`);
    const insert = `
      INSERT INTO t (id, b, s, i, o, f4, f8, n, n2, n0, c, tx, vc, ch, nm, by, d, tm, tz, ts, tsz, iv, u, j, jb, m, p, ip, r, ia, ta, tsa, xm, bi, pt, mo) VALUES
      ($1, true, -32768, 2147483647, 4294967295, 1.1, 0.1, 12345678901234567890.000123, -1.5, 123456789012345678901234567890, 0.01, 'tä\\t"x', 'v', 'c', 'n', '\\x00ff41', '2026-02-28', '24:00', '01:02:03.4+02', '2026-01-02 03:04:05.123456', '2026-01-02 03:04:05.1+05', '1 year 2 days', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '{"a": [1, 2.50]}', '{"b": null}', 'happy', '(1,"x y")', '10.0.0.1/8', '[1,5)', '{1,NULL,3}', '{"a b",NULL}', '{2026-01-02 03:04:05+00}', '<a/>', B'1010', '(1,2)', '12.34'),
      ($2, false, 0, -1, 0, 'NaN', '-Infinity', 'NaN', 0, 0, -99.99, '', '', '', '', '', '0044-03-15 BC', '00:00', '00:00+00', '-infinity', 'infinity', '-1 mon', '00000000-0000-0000-0000-000000000000', 'null', '[]', 'sad', NULL, '::1', 'empty', '{}', '{}', '{}', NULL, B'0000', '(-1,0.5)', '-1'),
      ($3, NULL, 1, 1, 1, 3.4e38, 5e-324, 0.00000001, 0.001, -7, 10000.5, repeat('x', 5000), NULL, NULL, NULL, NULL, '294276-12-31', '23:59:59.999999', NULL, '1969-12-31 23:59:59.999999', '0001-01-01 00:00:00+00 BC', NULL, NULL, '[{"k":1e400}]', '1', NULL, NULL, NULL, NULL, '{{1,2},{3,4}}', NULL, NULL, NULL, NULL, NULL, NULL),
      ($4, NULL, 1, 1, 1, 1e-7, 123456789.123, -100000000, 1000, 10000, 1, 'x', NULL, NULL, NULL, NULL, 'infinity', NULL, NULL, '2900-01-01 00:00:00.000001', '9999-12-31 23:59:59.999999+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)`;
    const rowsFrom = (first: number) =>
      insert.replace(/\$(\d)/g, (_, place) => String(first + Number(place)));
    await database.query(rowsFrom(0));
    const settings = { replication: { publication: "svc", slot: newSlot() } };
    const tables = createTables(database, settings);
    expect(await tables.run()).toEqual([]);
    await database.query(rowsFrom(10));
    expect(await tables.run()).toEqual([]);
    const of = (isByLog: boolean) =>
      tables
        .rows("t")
        .filter(({ id }) => Number(id) > 10 === isByLog)
        .sort((one, other) => Number(one.id) - Number(other.id))
        .map(({ id: _, ...row }) => row);
    expect(of(true)).toHaveLength(4);
    expect(of(true)).toEqual(of(false));
  });

  test("random transactions over several tables, read in runs that are cut off anywhere, leave the rows of the source", async () => {
    const random = createRandom(Number(process.env.FC_SEED ?? 7));
    const database = await createDatabase(`
      CREATE TABLE a (id int PRIMARY KEY, n numeric, body text); ALTER TABLE a ALTER body SET STORAGE EXTERNAL;
      CREATE TABLE b (x text, y int, v int, PRIMARY KEY (x, y)); ALTER TABLE b REPLICA IDENTITY FULL; ALTER TABLE b ADD large text; ALTER TABLE b ALTER large SET STORAGE EXTERNAL;
      CREATE TABLE c (id int, part int, v text, PRIMARY KEY (id, part)) PARTITION BY LIST (part);
      CREATE TABLE c1 PARTITION OF c FOR VALUES IN (1); CREATE TABLE c2 PARTITION OF c DEFAULT;
      INSERT INTO a SELECT i, i, repeat(md5(i::text), 200) FROM generate_series(1, 40) i;
      INSERT INTO b SELECT 'k' || i, i, i, repeat(md5(i::text), 200) FROM generate_series(1, 40) i`);
    const settings = { page_size: 7, replication: { publication: "svc", slot: newSlot() } };
    const tables = createTables(database, settings);
    const names = ["a", "b", "c"];
    let columns = 0;
    const large = () => `repeat(md5(random()::text), ${random(300)})`;
    const id = () => random(60);
    const step = (): string => {
      const kinds = [
        () =>
          `INSERT INTO a (id, n, body) VALUES (${id()}, ${random(100)}, ${large()}) ON CONFLICT (id) DO UPDATE SET n = excluded.n`,
        () => `UPDATE a SET n = n + 1 WHERE id % 7 = ${random(7)}`,
        () => `UPDATE a SET id = ${1000 + random(100_000)} WHERE id = ${id()}`,
        () =>
          `UPDATE a SET id = id - 1000 WHERE id = (SELECT max(id) FROM a WHERE id > 1000) AND NOT EXISTS (SELECT FROM a o WHERE o.id = a.id - 1000)`,
        () => `UPDATE a SET body = ${large()} WHERE id % 11 = ${random(11)}`,
        () => `DELETE FROM a WHERE id = ${id()}`,
        () =>
          `INSERT INTO b (x, y, v, large) VALUES ('k${id()}', ${random(3)}, 0, ${large()}) ON CONFLICT (x, y) DO UPDATE SET v = b.v + 1`,
        () =>
          `UPDATE b SET x = x || 'z' WHERE y = ${random(3)} AND length(x) < 6 AND NOT EXISTS (SELECT FROM b o WHERE o.x = b.x || 'z' AND o.y = b.y)`,
        () => `DELETE FROM b WHERE v = ${random(5)}`,
        () =>
          `INSERT INTO c VALUES (${id()}, ${random(3)}, 'v${random(9)}') ON CONFLICT (id, part) DO UPDATE SET v = 'again'`,
        () =>
          `UPDATE c SET part = (part + 1) % 3, v = 'moved' WHERE id = ${id()} AND NOT EXISTS (SELECT FROM c o WHERE o.id = c.id AND o.part = (c.part + 1) % 3)`,
        () => `DELETE FROM c WHERE id = ${id()}`,
        () => (random(25) === 0 ? `TRUNCATE ${names[random(3)]}` : "SELECT 1"),
        () =>
          random(15) === 0
            ? `ALTER TABLE a ADD more_${++columns} int DEFAULT ${columns}`
            : "SELECT 1",
        () =>
          random(15) === 0
            ? `ALTER TABLE b ALTER v TYPE ${random(2) === 0 ? "int" : "bigint"} USING v + 1`
            : "SELECT 1",
      ];
      return (kinds[random(kinds.length)] as () => string)();
    };
    for (let round = 0; round < 12; round++) {
      const transactions = Array.from({ length: 25 }, () => {
        const end = random(8) === 0 ? "ROLLBACK" : "COMMIT";
        return `BEGIN; ${Array.from({ length: 1 + random(5) }, step).join("; ")}; ${end}`;
      });
      await database.query(transactions.join(";\n"));
      for (let cuts = random(3); cuts > 0; cuts--) {
        let left = random(12);
        await tables.run(() => left-- <= 0);
      }
      // A truncated table is read anew, once all that were truncated meanwhile are known.
      let failures = await tables.run();
      for (let tries = 0; failures.length > 0 && tries < 3; tries++) {
        expect(failures.map((error) => (error as { code?: string }).code)).toEqual(
          failures.map(() => "CHANGES_LOST"),
        );
        failures = await tables.run();
      }
      expect(failures).toEqual([]);
      for (const name of names) {
        const now = await wholeOf(database, name);
        expect(sorted(tables.rows(name)), `${name} in round ${round}`).toEqual(sorted(now));
      }
    }
  });

  describe("the slot", () => {
    const small = "CREATE TABLE t (id int PRIMARY KEY, v int); INSERT INTO t VALUES (1, 1), (2, 2)";
    const open = async (slot: string, more = {}) => {
      const database = await createDatabase(small);
      return {
        database,
        slot,
        tables: createTables(database, { replication: { publication: "svc", slot, ...more } }),
      };
    };
    const slotOf = async ({ database, slot }: { database: PostgresDatabase; slot: string }) =>
      (
        await database.query(
          `SELECT confirmed_flush_lsn::text AS confirmed, active FROM pg_replication_slots WHERE slot_name = '${slot}'`,
        )
      ).at(0);
    const codeOf = (error: unknown) => (error as { code?: string }).code;
    const reasonOf = (error: unknown) =>
      (error as { details: Record<string, unknown> }).details.reason;

    test("is confirmed up to what the last run has saved, and not further", async () => {
      const one = await open(newSlot());
      await one.tables.run();
      const saved = () => (one.tables.states.get("t") as { lsn: string }).lsn;
      const first = saved();
      await one.database.query("INSERT INTO t VALUES (3, 3)");
      await one.tables.run();
      const second = saved();
      expect(second).not.toBe(first);
      expect((await slotOf(one))?.confirmed).not.toBe(second);
      // A run that is killed before it has read, and one of a destination that has lost the last.
      one.tables.states.set("t", {
        ...(one.tables.states.get("t") as object),
        lsn: first,
      } as never);
      expect(await one.tables.run()).toEqual([]);
      expect(one.tables.rows("t")).toHaveLength(3);
      await one.tables.run();
      await one.tables.run();
      const { confirmed } = (await slotOf(one)) as { confirmed: string };
      expect(confirmed > first && confirmed <= saved()).toBe(true);
    });

    test("stays where streams need it that a run does not read", async () => {
      const database = await createDatabase(
        "CREATE TABLE a (id int PRIMARY KEY); CREATE TABLE b (id int PRIMARY KEY)",
      );
      const slot = newSlot();
      const tables = createTables(database, { replication: { publication: "svc", slot } });
      expect(await tables.run()).toEqual([]);
      for (const id of [1, 2, 3]) {
        await database.query(`INSERT INTO a VALUES (${id}); INSERT INTO b VALUES (${id})`);
        expect(await tables.run(undefined, "a")).toEqual([]);
      }
      expect([tables.rows("a").length, tables.rows("b").length]).toEqual([3, 0]);
      expect(await tables.run()).toEqual([]);
      expect([tables.rows("a").length, tables.rows("b").length]).toEqual([3, 3]);
    });

    test.each([
      ["is gone", (slot: string) => `SELECT pg_drop_replication_slot('${slot}')`],
      [
        "was read on by someone else",
        (slot: string) =>
          `SET synchronous_commit = on; INSERT INTO t VALUES (7, 7) ;; SELECT pg_replication_slot_advance('${slot}', pg_current_wal_lsn())`,
      ],
      [
        "is gone and was made anew",
        (slot: string) =>
          `INSERT INTO t VALUES (7, 7) ;; SELECT pg_drop_replication_slot('${slot}') ;; SELECT pg_create_logical_replication_slot('${slot}', 'pgoutput')`,
      ],
    ])("that %s is told, and the rows are read anew", async (_, sql) => {
      const one = await open(newSlot());
      await one.tables.run();
      for (const statement of sql(one.slot).split(" ;; ")) await one.database.query(statement);
      await one.database.query("DELETE FROM t WHERE id = 1");
      const failures = await one.tables.run();
      expect(failures.map(codeOf)).toEqual(["CHANGES_LOST"]);
      expect(await one.tables.run()).toEqual([]);
      expect(sorted(one.tables.rows("t"))).toEqual(sorted(await wholeOf(one.database, "t")));
    });

    test("that holds back more than it may is dropped, and the rows are read anew", async () => {
      const one = await open(newSlot(), { max_lag_mb: 1 });
      await one.tables.run();
      await one.database.query(
        "CREATE TABLE filler (id int PRIMARY KEY, v text); INSERT INTO filler SELECT i, repeat(md5(i::text), 30) FROM generate_series(1, 4000) i; DELETE FROM t WHERE id = 1",
      );
      const failures = await one.tables.run();
      expect(failures.map(codeOf)).toContain("CHANGES_LOST");
      expect(await slotOf(one)).toBeUndefined();
      await one.tables.run();
      expect(await one.tables.run()).toEqual([]);
      expect(one.tables.rows("t")).toEqual([{ id: 2, v: 2 }]);
    });

    test("of a server that has gone back, or another one, is not read on with an old state", async () => {
      const one = await open(newSlot());
      await one.tables.run();
      const state = one.tables.states.get("t") as object;
      one.tables.states.set("t", { ...state, system: "1/1" } as never);
      const [failure] = await one.tables.run();
      expect(codeOf(failure)).toBe("CHANGES_LOST");
    });

    test("needs rights, a publication and a level of the log: check says what an administrator runs", async () => {
      const database = await createDatabase(small);
      const check = async (user: string, replication: PostgresSettings["replication"]) => {
        await using run = createPostgresRun(
          server,
          database,
          { ...login, username: user },
          { replication: replication as NonNullable<typeof replication> },
        );
        return await run.check().then(
          () => undefined,
          (error: unknown) => error,
        );
      };
      const slot = newSlot();
      expect(await check(login.username, { publication: "svc", slot })).toBeUndefined();
      expect(await slotOf({ database, slot })).toBeUndefined();
      const without = await check("plain_reader", { publication: "svc", slot });
      expect(codeOf(without)).toBe("PERMISSION_DENIED");
      expect(reasonOf(without)).toMatch(/ALTER ROLE plain_reader REPLICATION/);
      const missing = await check(login.username, { publication: "other", slot });
      expect(reasonOf(missing)).toMatch(/CREATE PUBLICATION other FOR TABLE/);
      await database.query("CREATE PUBLICATION partly FOR TABLE t WITH (publish = 'insert')");
      const partly = await check(login.username, { publication: "partly", slot });
      expect(reasonOf(partly)).toMatch(/ALTER PUBLICATION partly SET \(publish/);
      await database.query(
        `SELECT pg_create_logical_replication_slot('${slot}', 'test_decoding'); ALTER TABLE t REPLICA IDENTITY NOTHING`,
      );
      const foreign = await check(login.username, { publication: "svc", slot });
      expect(reasonOf(foreign)).toMatch(/choose another name/);
      const unidentified = await check(login.username, { publication: "svc", slot: newSlot() });
      expect(reasonOf(unidentified)).toMatch(/no table with a primary key/);
    });

    test("needs free slots: check says how many", async () => {
      const database = await createDatabase(small);
      const settings = { replication: { publication: "svc", slot: newSlot() } };
      const check = async () => {
        await using run = createPostgresRun(server, database, login, settings);
        return await run.check().catch((error: unknown) => error);
      };
      await database.query(
        `SELECT pg_create_physical_replication_slot('fill_' || i) FROM generate_series(1, current_setting('max_replication_slots')::int - (SELECT count(*)::int FROM pg_replication_slots) - 1) i`,
      );
      try {
        expect(reasonOf(await check())).toMatch(/slots 1 are free, and 2 are needed/);
      } finally {
        await database.query(
          "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name LIKE 'fill_%'",
        );
      }
      expect(await check()).toBeUndefined();
    });

    test("that waits for a transaction that is open tells which one that is", async () => {
      const database = await createDatabase(small);
      const settings = { replication: { publication: "svc", slot: newSlot() } };
      const tables = createTables(database, settings, createScaledClock(1_000));
      const holding = database.query("BEGIN; SELECT txid_current(); SELECT pg_sleep(600)");
      const held = holding.catch(() => undefined);
      const sleeping = async () => {
        const found = await database.query(
          "SELECT pid FROM pg_stat_activity WHERE wait_event = 'PgSleep'",
        );
        expect(found).toHaveLength(1);
        return Number(found[0]?.pid);
      };
      const pid = await vi.waitFor(sleeping, soon);
      const running = tables.run();
      await vi.waitFor(
        async () =>
          expect(
            await database.query(
              "SELECT FROM pg_locks WHERE locktype = 'transactionid' AND NOT granted",
            ),
          ).toHaveLength(1),
        soon,
      );
      await delay(500);
      await database.query(`SELECT pg_terminate_backend(${pid})`);
      expect(await running).toEqual([]);
      await held;
      expect(tables.logged.join()).toMatch(/once a transaction that is open has ended/);
      const waitedSeconds = expect.any(Number);
      expect(tables.fields).toContainEqual({ pid, openSeconds: null, waitedSeconds });
    });

    test("that standby servers hold back is told of with their names, and goes on when they are back", async ({
      skip,
    }) => {
      const one = await open(newSlot());
      const [{ version } = {}] = await one.database.query(
        "SELECT current_setting('server_version_num')::int AS version",
      );
      if (Number(version) < 170_000)
        skip("PostgreSQL 17 and later have synchronized_standby_slots");
      await one.database.query(
        `SELECT pg_create_logical_replication_slot('${one.slot}', 'pgoutput', false, false, true), pg_create_physical_replication_slot('replica_away')`,
      );
      const settings = { replication: { publication: "svc", slot: one.slot } };
      const tables = createTables(one.database, settings, createScaledClock(1_000));
      expect(await tables.run()).toEqual([]);
      const setStandbys = async (names: string) => {
        await one.database.query(`ALTER SYSTEM SET synchronized_standby_slots = '${names}'`);
        await one.database.query("SELECT pg_reload_conf()");
      };
      await one.database.query("INSERT INTO t VALUES (3, 3)");
      await setStandbys("replica_away");
      const failures = await tables.run();
      await setStandbys("");
      await one.database.query("SELECT pg_drop_replication_slot('replica_away')");
      expect(failures).toMatchObject([
        { code: "PROVIDER_TIMEOUT", details: { phase: expect.stringContaining("replica_away") } },
      ]);
      expect(await tables.run()).toEqual([]);
      expect(tables.rows("t")).toHaveLength(3);
    });

    test("the password stays in the host", async () => {
      const { database, slot } = await open(newSlot());
      await using run = createPostgresRun(server, database, login, {
        replication: { publication: "svc", slot },
      });
      await run.check();
      for await (const stream of run.discover())
        for await (const _ of run.read({ ...stream, syncMode: "incremental" }));
      expect(run.received().includes(login.password)).toBe(false);
    });
  });
});
