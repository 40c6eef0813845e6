/** Reading from the log of a real server; what is read is applied to a table of this test. */
import { createHash } from "node:crypto";
import type { Output, Row, SelectedStream, Stream } from "svc-connectors";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  findPostgres,
  type PostgresDatabase,
  type PostgresServer,
  startPostgres,
} from "../../../../simulators/postgres-server.ts";
import {
  createPostgresRun,
  type PostgresSettings,
  type PostgresState,
} from "../../../../tests/postgres-run.ts";

const login = { username: "cdc_reader", password: "q7Zt3LmX9aRk" };
let server: PostgresServer;
let slots = 0;

beforeAll(async () => {
  if (findPostgres() === undefined) return;
  server = await startPostgres({
    settings: {
      wal_level: "logical",
      max_replication_slots: "40",
      max_wal_senders: "20",
      fsync: "off",
    },
  });
  const admin = await server.createDatabase();
  await admin.query(
    `CREATE ROLE ${login.username} LOGIN REPLICATION PASSWORD '${login.password}'; CREATE ROLE plain_reader LOGIN PASSWORD '${login.password}'`,
  );
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

const newSlot = () => `svc_test_${++slots}`;

interface Known {
  readonly row: Row;
  readonly lsn: bigint;
}

/** Tables as a destination has them: the newest state of each key, and the state of each stream. */
function createTables(database: PostgresDatabase, settings: PostgresSettings) {
  const tables = new Map<string, Map<string, Known>>();
  const states = new Map<string, PostgresState>();
  let read = 0;

  const apply = (stream: Stream, row: Row) => {
    const table = tables.get(stream.name) ?? new Map<string, Known>();
    tables.set(stream.name, table);
    const key = JSON.stringify((stream.primaryKey ?? []).map((name) => String(row[name])));
    const { _ab_cdc_lsn: lsn, _ab_cdc_deleted_at: deletedAt, ...values } = row;
    const known = table.get(key);
    if (known && known.lsn > BigInt(lsn as number)) return;
    if (deletedAt !== null && deletedAt !== undefined) table.delete(key);
    else table.set(key, { row: values, lsn: BigInt(lsn as number) });
  };

  return {
    states,
    get readCount() {
      return read;
    },
    rows: (name: string): Row[] =>
      [...(tables.get(name) ?? new Map<string, Known>()).values()].map(({ row }) => row),
    /** Reads all streams once. `cut` says after which output the run is killed. */
    async run(cut: (output: Output<PostgresState>) => boolean = () => false): Promise<unknown[]> {
      await using run = createPostgresRun(server, database, login, settings);
      const streams: SelectedStream[] = [];
      for await (const stream of run.discover())
        if (stream.cursorField) streams.push({ ...stream, syncMode: "incremental" });
      const selection = streams.map((stream) => ({ stream, state: states.get(stream.name) }));
      const failures: unknown[] = [];
      for (const { stream, state } of selection) {
        /** Rows count once a checkpoint covers them. */
        let waiting: Row[] = [];
        try {
          for await (const output of run.read(stream, state, selection as never)) {
            if (output.type === "records") waiting.push(...output.rows);
            if (output.type === "checkpoint") {
              const isNothing = Object.keys(output.state as object).length === 0;
              if (isNothing) tables.delete(stream.name);
              for (const row of isNothing ? [] : waiting) apply(stream, row);
              read += waiting.length;
              waiting = [];
              states.set(stream.name, isNothing ? undefined : output.state);
            }
            if (cut(output)) return failures;
          }
        } catch (error) {
          failures.push(error);
        }
      }
      return failures;
    },
  };
}

/** Rows as short texts, in an order of their own. */
const sorted = (rows: readonly Row[]) => rows.map((row) => JSON.stringify(row, shortened)).sort();
const shortened = (_: string, value: unknown) =>
  typeof value === "string" && value.length > 40
    ? `${value.slice(0, 8)}… ${createHash("md5").update(value).digest("hex")}`
    : value;

/** The rows of a table as the source itself reads them whole. */
async function wholeOf(database: PostgresDatabase, name: string, settings = {}): Promise<Row[]> {
  await using run = createPostgresRun(server, database, login, settings);
  const stream = { name, namespace: "public", schema: {}, syncMode: "full_refresh" } as const;
  const rows: Row[] = [];
  for await (const output of run.read(stream))
    if (output.type === "records") rows.push(...output.rows);
  return rows;
}

describe.skipIf(findPostgres() === undefined)("changes from the log", () => {
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
});
