import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  findPostgres,
  type PostgresServer,
  startPostgres,
} from "../../../simulators/postgres-server.ts";
import { describeDestination, describeStream } from "../../../tests/destination-behaviour.ts";
import { describeDeletes } from "../../../tests/destination-deletes.ts";
import { describeDeletions } from "../../../tests/destination-deletions.ts";
import { openPostgresPlace, type PostgresPlace } from "../../../tests/postgres-place.ts";
import { soon } from "../../../tests/soon.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server?.stop());

const text = { type: "string" };
const integer = { type: "integer" };
const overwrite = { mode: "full_refresh", into: "overwrite" } as const;

type Stream = ReturnType<typeof describeStream>;
const nameOf = ({ configured: { stream } }: Stream) => ({ name: stream.name });

async function open(
  place: PostgresPlace,
  fence: number,
  stream: Stream,
  owner = "pipe_1",
  jobId = `job_${fence}`,
) {
  const sink = await place.write({ owner, jobId, fence, streams: [stream] });
  await sink.status(nameOf(stream), "started");
  const put = (...rows: object[]) =>
    sink.write(
      nameOf(stream),
      Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join("")),
      rows.length,
    );
  return { sink, put };
}

async function run(
  place: PostgresPlace,
  fence: number,
  stream: Stream,
  ...rows: object[]
): Promise<void> {
  const { sink, put } = await open(place, fence, stream);
  await put(...rows);
  await sink.checkpoint(nameOf(stream), { fence }, rows.length);
  await sink.status(nameOf(stream), "complete");
  await sink.close();
}

/** Where deletions of the owner's one stream are remembered. */
async function deletedTableOf(place: PostgresPlace, owner: string): Promise<string> {
  const [[id] = []] = await place.sql(`SELECT id FROM _svc.streams WHERE owner = '${owner}'`);
  return `_svc."svc:deleted:${id}"`;
}

describe.skipIf(findPostgres() === undefined)("destination postgres on a real server", () => {
  describeDestination("postgres", (clock) => openPostgresPlace(server, { clock }));
  describeDeletes("postgres", (clock) => openPostgresPlace(server, { clock }), { runCount: 10 });
  describeDeletions("postgres", (clock) => openPostgresPlace(server, { clock }), {
    async count(place, owner) {
      const [[count] = []] = await place.sql(
        `SELECT count(*) FROM ${await deletedTableOf(place, owner)}`,
      );
      return Number(count);
    },
    async forgetMoments(place, owner) {
      await place.sql(`ALTER TABLE ${await deletedTableOf(place, owner)} DROP COLUMN noted_at`);
    },
  });

  test("several owners make its tables at the same moment", async () => {
    const place = await openPostgresPlace(server);
    const owners = Array.from({ length: 8 }, (_, index) => `pipe_${index}`);
    const streams = owners.map((owner) =>
      describeStream({ id: integer }, { name: owner, schema: "shared" }),
    );
    const sinks = await Promise.all(
      streams.map((stream, index) => open(place, 1, stream, owners[index])),
    );
    await Promise.all(sinks.map(({ put }, index) => put({ id: index })));
    await Promise.all(
      sinks.map(({ sink }, index) => sink.status(nameOf(streams[index] as Stream), "complete")),
    );
    await Promise.all(sinks.map(({ sink }) => sink.close()));
    for (const [index, owner] of owners.entries())
      expect(await place.sql(`SELECT id FROM shared."_svc_${owner}"`)).toEqual([[String(index)]]);
    await place.close();
  });

  test("of two owners that want one table at the same moment one gets it, and the other is told", async () => {
    const place = await openPostgresPlace(server);
    const stream = describeStream({ id: integer }, { name: "things" });
    const [one, two] = await Promise.all([
      open(place, 1, stream, "pipe_1"),
      open(place, 1, stream, "pipe_2"),
    ]);
    await one.put({ id: 1 });
    await one.sink.status(nameOf(stream), "complete");
    await two.put({ id: 2 });
    await expect(two.sink.status(nameOf(stream), "complete")).rejects.toMatchObject({
      code: "TABLE_CONFLICT",
    });
    await Promise.all([one.sink.close(), two.sink.close()]);
    expect(await place.sql("SELECT id FROM _svc_things")).toEqual([["1"]]);
    await place.close();
  });

  test("a server that crashes in the middle is a lost connection; the next attempt goes on from the last commit", async () => {
    await using crashing = await startPostgres({
      settings: { synchronous_commit: "on", fsync: "on" },
    });
    const place = await openPostgresPlace(crashing);
    const stream = describeStream({ id: integer }, { name: "things" });
    const one = await open(place, 1, stream);
    await one.put({ id: 1 });
    await one.sink.checkpoint(nameOf(stream), { at: 1 }, 1);
    await one.put({ id: 2 });
    const [[pid]] = (await place.sql(
      "SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'svc:%:1'",
    )) as [[string]];
    // The death of one session makes the server drop them all and recover.
    process.kill(Number(pid), "SIGKILL");
    await expect(one.sink.status(nameOf(stream), "complete")).rejects.toMatchObject({
      code: "CONNECTION_FAILED",
    });
    await expect(one.put({ id: 3 })).rejects.toMatchObject({ code: "CONNECTION_FAILED" });
    await one.sink.close();
    await place.close().catch(() => undefined);
    const reopen = () => openPostgresPlace(crashing, { database: place.database });
    await expect
      .poll(
        () =>
          reopen().then(
            (opened) => opened.close().then(() => true),
            () => false,
          ),
        soon,
      )
      .toBe(true);
    const again = await reopen();
    const two = await open(again, 2, stream);
    expect(two.sink.savedState()).toEqual([{ stream: { name: "things" }, state: { at: 1 } }]);
    await two.put({ id: 2 });
    await two.sink.status(nameOf(stream), "complete");
    await two.sink.close();
    expect(await again.sql("SELECT id FROM _svc_things ORDER BY id")).toEqual([["1"], ["2"]]);
    await again.close();
  });

  test("an earlier attempt that holds locks is ended, and told why", async () => {
    const place = await openPostgresPlace(server);
    const stream = describeStream(
      { id: integer },
      { name: "things", ...overwrite, isResumable: true },
    );
    const one = await open(place, 1, stream);
    await one.put({ id: 1 });
    await one.sink.checkpoint(nameOf(stream), { at: 1 }, 1);
    // More than waits in memory: a COPY is open, and the table locked.
    const wide = "x".repeat(64 * 1024);
    for (let id = 2; id < 150; id++) await one.put({ id, wide });
    await run(
      place,
      2,
      describeStream({ id: integer }, { name: "things", ...overwrite, isRestart: true }),
      { id: 7 },
    );
    await expect(one.sink.status(nameOf(stream), "complete")).rejects.toMatchObject({
      code: "OUTPUT_FENCED",
    });
    await one.sink.close();
    expect(await place.sql("SELECT id FROM _svc_things")).toEqual([["7"]]);
    await place.close();
  });

  test("a fence that rises while rows are on their way stops the commit, also when nobody ends the session", async () => {
    const place = await openPostgresPlace(server);
    const stream = describeStream({ id: integer }, { name: "things" });
    const { sink, put } = await open(place, 1, stream);
    await put({ id: 1 });
    await sink.checkpoint(nameOf(stream), { at: 1 }, 1);
    await put({ id: 2 });
    await place.sql("UPDATE _svc.writers SET fence = 2");
    await expect(sink.status(nameOf(stream), "complete")).rejects.toMatchObject({
      code: "OUTPUT_FENCED",
    });
    await sink.close();
    expect(await place.sql("SELECT id FROM _svc_things")).toEqual([["1"]]);
    await place.close();
  });

  test("a full refresh that is appended is there once for each job, also when a killed host did not learn that it was done", async () => {
    const place = await openPostgresPlace(server);
    const stream = describeStream(
      { id: integer },
      { name: "things", mode: "full_refresh", into: "append" },
    );
    for (const [index, job] of ["job_1", "job_1", "job_2", "job_2"].entries()) {
      const { sink, put } = await open(place, index + 1, stream, "pipe_1", job);
      await put({ id: 1 }, { id: 2 });
      await sink.status(nameOf(stream), "complete");
      await sink.close();
    }
    expect(await place.sql("SELECT id FROM _svc_things ORDER BY id")).toEqual([
      ["1"],
      ["1"],
      ["2"],
      ["2"],
    ]);
    await place.close();
  });

  test("rows beyond the last checkpoint are taken back when the stream does not come to its end, however many they are", async () => {
    const place = await openPostgresPlace(server);
    for (const [index, into] of (["append", "append_dedup"] as const).entries()) {
      const stream = describeStream({ id: integer, wide: text }, { name: into, into, key: ["id"] });
      const { sink, put } = await open(place, 1 + 2 * index, stream);
      await put({ id: 1 });
      await sink.checkpoint(nameOf(stream), { at: 1 }, 1);
      await put({ id: 2 });
      await sink.checkpoint(nameOf(stream), { at: 2 }, 1);
      for (let id = 3; id < 12; id++)
        await put({ id, wide: "x".repeat(1024 * 1024) }, { id: "not a number" });
      await sink.status(nameOf(stream), "incomplete");
      await sink.close();
      expect(await place.sql(`SELECT id FROM _svc_${into} ORDER BY id`)).toEqual([["1"], ["2"]]);
      const next = await open(place, 2 + 2 * index, stream);
      expect(next.sink.savedState()[0]?.state).toEqual({ at: 2 });
      await next.sink.close();
    }
    await place.close();
  });

  test("a database that became read-only is told by its reason, and what was committed stays", async () => {
    const place = await openPostgresPlace(server);
    const stream = describeStream({ id: integer }, { name: "things" });
    await run(place, 1, stream, { id: 1 });
    await place.sql(
      `ALTER DATABASE "${place.database.name}" SET default_transaction_read_only = on`,
    );
    const refusal = {
      code: expect.stringMatching(/OUTPUT_FAILED|DATABASE_UNUSABLE|PERMISSION_DENIED/),
      message: expect.stringContaining("read-only"),
    };
    await expect(place.check()).rejects.toMatchObject(refusal);
    await expect(open(place, 2, stream)).rejects.toMatchObject(refusal);
    expect(await place.sql("SELECT id FROM _svc_things")).toEqual([["1"]]);
    await place.close();
  });

  test("views on an overwritten table and grants on it stay", async () => {
    const place = await openPostgresPlace(server);
    const stream = (properties = {}) =>
      describeStream({ id: integer, ...properties }, { name: "things", ...overwrite });
    await run(place, 1, stream(), { id: 1 });
    await place.sql("CREATE ROLE analyst_1");
    await place.sql("GRANT SELECT ON _svc_things TO analyst_1");
    await run(place, 2, stream(), { id: 2 });
    await place.sql("CREATE VIEW seen AS SELECT id + 1 AS next FROM _svc_things");
    await run(place, 3, stream({ more: text }), { id: 3, more: "x" }, { id: 4 });
    expect(await place.sql("SELECT next FROM seen ORDER BY next")).toEqual([["4"], ["5"]]);
    expect(await place.sql("SELECT id, more FROM _svc_things ORDER BY id")).toEqual([
      ["3", "x"],
      ["4", null],
    ]);
    expect(
      await place.sql("SELECT has_table_privilege('analyst_1', '_svc_things', 'SELECT')"),
    ).toEqual([["t"]]);
    // The view's column cannot change its type: one clear error, and the old rows stay.
    await expect(run(place, 4, stream(), { id: 1e25 })).rejects.toMatchObject({
      code: "DATABASE_UNUSABLE",
    });
    expect(await place.sql("SELECT next FROM seen ORDER BY next")).toEqual([["4"], ["5"]]);
    await place.sql("DROP VIEW seen");
    await place.sql("DROP OWNED BY analyst_1; DROP ROLE analyst_1");
    await place.close();
  });

  describe("a role without rights", () => {
    const password = "q7Zt3LmX9aRk";
    let place: PostgresPlace;
    beforeAll(async () => {
      const admin = await openPostgresPlace(server);
      await admin.sql(`CREATE ROLE poor LOGIN PASSWORD '${password}'`);
      place = await openPostgresPlace(server, {
        username: "poor",
        password,
        database: admin.database,
      });
    });

    test("fails check and writing with one error, and leaves nothing", async () => {
      const denied = { code: "PERMISSION_DENIED" };
      await expect(place.check()).rejects.toMatchObject(denied);
      await expect(open(place, 1, describeStream({ id: integer }))).rejects.toMatchObject(denied);
      expect(await place.sql("SELECT 1 FROM pg_namespace WHERE nspname = '_svc'")).toEqual([]);
    });

    test("writes once it owns the schemas", async () => {
      await place.sql("CREATE SCHEMA _svc AUTHORIZATION poor");
      await place.sql("GRANT CREATE ON SCHEMA public TO poor");
      await place.check();
      await run(place, 1, describeStream({ id: integer }), { id: 1 });
      expect(await place.sql("SELECT id FROM _svc_things")).toEqual([["1"]]);
    });
  });

  test("any row is what it was, in the types that a schema gives", async () => {
    const place = await openPostgresPlace(server);
    const properties = {
      n: integer,
      big: { type: "integer", airbyte_type: "big_integer" },
      exact: { type: "number", airbyte_type: "big_number" },
      rate: { type: "number" },
      t: text,
      ok: { type: "boolean" },
      j: { type: "object" },
      at: { type: "string", format: "date-time" },
      day: { type: "string", format: "date" },
    };
    const date = fc.date({
      min: new Date("0000-01-01T00:00:00Z"),
      max: new Date("9999-12-31T23:59:59.999Z"),
      noInvalidDate: true,
    });
    const row = fc.record({
      n: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
      big: fc.bigInt(),
      exact: fc.tuple(fc.bigInt(), fc.nat()).map(([whole, part]) => `${whole}.${part}1`),
      rate: fc.double({ noNaN: true, noDefaultInfinity: true }),
      t: fc.string({ unit: "binary" }),
      ok: fc.boolean(),
      j: fc.jsonValue(),
      at: date.map((one) => one.toISOString()),
      day: date.map((one) => one.toISOString().slice(0, 10)),
    });
    const rows = fc.sample(row, { numRuns: 500, seed: 7 });
    const lines = rows.map(
      (one, index) =>
        `{"index":${index},"n":${one.n},"big":${one.big},"exact":${one.exact},"rate":${JSON.stringify(one.rate)},"t":${JSON.stringify(one.t)},"ok":${one.ok},"j":${JSON.stringify(one.j)},"at":"${one.at}","day":"${one.day}"}`,
    );
    const stream = describeStream({ index: integer, ...properties }, { name: "values" });
    const { sink } = await open(place, 1, stream);
    await sink.write(nameOf(stream), Buffer.from(`${lines.join("\n")}\n`), lines.length);
    await sink.status(nameOf(stream), "complete");
    await sink.close();
    const types = await place.sql(
      "SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = '_svc_values'::regclass AND attnum BETWEEN 2 AND 10 ORDER BY attnum",
    );
    expect(types.map(([, type]) => type)).toEqual([
      "bigint",
      "numeric",
      "numeric",
      "double precision",
      "text",
      "boolean",
      "jsonb",
      "timestamp with time zone",
      "date",
    ]);
    const storable = (value: string) => value.toWellFormed().replaceAll("\0", "\ufffd");
    const found = await place.sql(
      "SELECT n, big, exact, rate, t, ok, j, extract(epoch FROM at), (day - date '0001-01-01') FROM _svc_values ORDER BY index",
    );
    for (const [index, one] of rows.entries()) {
      const [n, big, exact, rate, t, ok, j, at, day] = found[index] ?? [];
      expect([n, big, exact?.replace(/^(-?)(\d+)/, "$1$2"), t, ok]).toEqual([
        String(one.n),
        String(one.big),
        one.exact,
        storable(one.t),
        one.ok ? "t" : "f",
      ]);
      expect(Number(rate)).toBe(one.rate + 0); // JSON has no -0
      if (one.j === null) expect(j).toBeNull();
      else expect(JSON.parse(j ?? "")).toEqual(JSON.parse(storable(JSON.stringify(one.j))));
      expect(Math.round(Number(at) * 1_000)).toBe(Date.parse(one.at));
      expect(Number(day)).toBe((Date.parse(one.day) - Date.parse("0001-01-01")) / 86_400_000);
    }
    await place.close();
  });

  describe("a query", () => {
    let place: PostgresPlace;
    beforeAll(async () => {
      place = await openPostgresPlace(server);
      await place.sql("CREATE TABLE kept (id integer)");
      await place.sql("INSERT INTO kept SELECT generate_series(1, 2500)");
    });
    const read = async (sql: string, options: { maxRows?: number; timeoutMs?: number } = {}) => {
      const { pages } = await place.query({ sql, maxRows: 10_000, timeoutMs: 20_000, ...options });
      const rows = [];
      for await (const page of pages) rows.push(...page);
      return rows;
    };

    test.each([
      "SELECT pg_sleep(1000)",
      'SELECT PG_CATALOG."pg_sleep"(1000)',
      'SELECT U&"\\0070g_sleep"(1000)',
      "SELECT pg_read_file('/etc/passwd')",
      "SELECT * FROM pg_ls_dir('/')",
      "SELECT lo_import('/etc/passwd')",
      "SELECT * FROM dblink('x', 'y') AS t (a int)",
      "SELECT pg_terminate_backend(1)",
      "SELECT pg_advisory_lock(1)",
      "SELECT set_config('statement_timeout', '0', false)",
      "SELECT query_to_xml('SELECT 1', true, true, '')",
      "SELECT pg_notify('a', 'b')",
      "SELECT nextval('s')",
      "SELECT * INTO other FROM kept",
      "SELECT * FROM kept FOR UPDATE",
      "WITH w AS (UPDATE kept SET id = 0 RETURNING 1) SELECT * FROM w",
      "SELECT 1; COMMIT; DELETE FROM kept",
      "SELECT '' /* ; */; SELECT 2",
      "SELECT E'\\'' ; SELECT 2",
      "SELECT $a$ ; $a$; SELECT 2",
      "LOCK TABLE kept",
      "DO $$ BEGIN END $$",
      "",
      "-- SELECT",
    ])("is refused: %s", async (sql) => {
      await expect(read(sql)).rejects.toMatchObject({ code: "QUERY_REFUSED" });
    });

    test.each([
      "SELECT 'pg_sleep(1); DELETE' AS word",
      "SELECT 1 AS one -- ; pg_sleep",
      "SELECT 1 /* pg_sleep /* nested */ ; */ AS one;",
      "SELECT $x$ ' ; $x$ AS word",
      "(SELECT 1) UNION (SELECT 1)",
      "VALUES (1)",
    ])("is read: %s", async (sql) => {
      expect(await read(sql)).toHaveLength(1);
    });

    test("gives its rows in pages, fails when they are more than asked for, and finds tables of the schema of the settings", async () => {
      expect(await read("SELECT id FROM kept ORDER BY id")).toEqual(
        Array.from({ length: 2_500 }, (_, index) => [index + 1]),
      );
      expect(await read("SELECT id FROM kept", { maxRows: 2_500 })).toHaveLength(2_500);
      for (const maxRows of [10, 1_000, 2_499])
        await expect(read("SELECT id FROM kept", { maxRows })).rejects.toMatchObject({
          code: "QUERY_FAILED",
        });
    });

    test("that takes too long is ended", async () => {
      const sql = "SELECT count(*) FROM kept a, kept b, kept c, kept d";
      await expect(read(sql, { timeoutMs: 100 })).rejects.toMatchObject({
        code: "QUERY_FAILED",
        details: { reason: "it took too long" },
      });
    });

    test("ends its session when its caller stops early", async () => {
      const { pages } = await place.query({
        sql: "SELECT 4711 AS few, id FROM kept",
        maxRows: 10_000,
        timeoutMs: 20_000,
      });
      for await (const page of pages) {
        expect(page).toHaveLength(1_000);
        break;
      }
      await expect
        .poll(() =>
          place.sql(
            "SELECT 1 FROM pg_stat_activity WHERE application_name = 'svc' AND datname = current_database()",
          ),
        )
        .toEqual([]);
    });
  });
});
