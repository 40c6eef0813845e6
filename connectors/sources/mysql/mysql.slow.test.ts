/**
 * The connector in its sandbox, on a real MariaDB whose own settings are as unlike as they can be.
 */
import { type CatalogStream, createHost, type HostEvent } from "svc-connectors/host";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  findMariadb,
  type MariadbServer,
  startMariadb,
} from "../../../simulators/mariadb-server.ts";
import { createMemorySink } from "../../../tests/memory-sink.ts";
import { readMysql as readHere } from "../../../tests/mysql-run.ts";

const password = "q7Zt3LmX9aRk 2VwB8nYc";
const connector = { name: "mysql", url: new URL("./index.ts", import.meta.url).href };

interface ReadOptions {
  readonly cursor?: string;
  readonly state?: unknown;
  readonly stream?: Partial<CatalogStream>;
  readonly filter?: readonly object[];
  readonly fields?: readonly string[];
}

describe.skipIf(findMariadb() === undefined)("source mysql on a real server", () => {
  let server: MariadbServer;
  let host: ReturnType<typeof createHost>;
  /** Its connector has no worker: for what the connector answers, not for how. */
  let plain: ReturnType<typeof createHost>;
  beforeAll(async () => {
    server = await startMariadb({
      settings: {
        "sql-mode": "ANSI_QUOTES,NO_BACKSLASH_ESCAPES,PAD_CHAR_TO_FULL_LENGTH,PIPES_AS_CONCAT",
        "default-time-zone": "+05:00",
        "character-set-server": "latin1",
        "max-allowed-packet": "64M",
      },
    });
    const settings = { allowNetworks: ["127.0.0.1/32"] };
    host = createHost({ settings });
    plain = createHost({ settings, sandbox: "inline" });
    await server.query(`CREATE USER reader IDENTIFIED BY '${password}'`);
    await server.query("SET GLOBAL sql_select_limit = 3; SET GLOBAL autocommit = 0");
  });
  afterAll(async () => {
    await host?.[Symbol.asyncDispose]();
    await plain?.[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
  });

  const configOf = (database: string, settings: object = {}) => ({
    host: server.host,
    port: server.port,
    database,
    username: "reader",
    password,
    ssl_mode: "require",
    ...settings,
  });
  type Config = ReturnType<typeof configOf>;

  /** Statements of the administrator, who has none of the odd settings. */
  const run = (sql: string) => server.query(`SET autocommit = 1, sql_mode = ''; ${sql}`);
  /** A database of its own that the reader may read. */
  const fill = (database: string, sql: string) =>
    run(
      `CREATE DATABASE ${database} CHARACTER SET utf8mb4; GRANT SELECT ON ${database}.* TO reader; USE ${database}; ${sql}`,
    );
  const named = (streams: readonly CatalogStream[], name: string): CatalogStream => {
    const found = streams.find((stream) => stream.name === name);
    if (!found) throw new Error(`there is no stream ${name}`);
    return found;
  };
  const discover = (config: Config) => plain.discover(connector, config as never);

  async function read(
    config: Config,
    name: string,
    {
      reader = host,
      onEvent = () => {},
      ...options
    }: ReadOptions & { reader?: typeof host; onEvent?: (event: HostEvent) => void } = {},
  ) {
    const { cursor, state, filter, fields } = options;
    const stream = { ...named(await discover(config), name), ...options.stream };
    const selection = {
      stream,
      ...(filter ? { row_filter: filter } : {}),
      ...(fields ? { selected_fields: fields } : {}),
    };
    const catalog = {
      streams: [
        cursor === undefined
          ? { ...selection, sync_mode: "full_refresh" as const }
          : { ...selection, sync_mode: "incremental" as const, cursor_field: [cursor] },
      ],
    };
    const sink = createMemorySink();
    const { namespace } = stream;
    const descriptor = { name, ...(namespace === undefined ? {} : { namespace }) };
    const saved = state === undefined ? undefined : [{ stream: descriptor, state }];
    const summary = await reader.read(connector, { config, catalog, state: saved } as never, sink, {
      onEvent,
    });
    const lines = sink.events
      .flatMap((one) => (one.type === "records" ? one.text.split("\n") : []))
      .filter((line) => line !== "");
    // The one without a content says that a full refresh is over.
    const states = sink.events.flatMap((one) =>
      one.type === "checkpoint" && Object.keys(one.state as object).length > 0 ? [one.state] : [],
    );
    return { summary, lines, states, state: states.at(-1), error: summary.streams[0]?.error };
  }
  const ids = (lines: readonly string[]) =>
    lines.map((line) => Number(/"id":(\d+)/.exec(line)?.[1]));

  test("types arrive as they are, to the digit; what no calendar has is nulled and counted", async () => {
    await fill(
      "kinds",
      `CREATE TABLE t (
        id bigint unsigned PRIMARY KEY, small tinyint(1), big bigint, n decimal(65, 30), whole decimal(30, 0), z int(6) unsigned zerofill,
        f float, d double, b bit(64), flags bit(3), day date, at datetime(6), ts timestamp(3) NULL, t time(6), y year, e enum('a', 'b''c'), s set('x', 'y'),
        c char(4), latin varchar(20) CHARACTER SET latin1, txt longtext, j json, bin varbinary(8), bl blob, p point, u uuid);
      SET time_zone = '+02:00'; SET NAMES utf8mb4;
      INSERT INTO t VALUES (18446744073709551615, 1, -9223372036854775808, -12345678901234567890.123456789012345678901234567890, 123456789012345678901234567890, 42,
        0.1, 1.7976931348623157e308, b'1111111111111111111111111111111111111111111111111111111111111111', b'101',
        '2026-02-28', '2026-01-02 03:04:05.123456', '2026-01-02 03:04:05.678', '-838:59:58.999999', 2155, 'b''c', 'x,y',
        'é', 'straße', '🐘 ''"\\\\', '{"n": 12345678901234567890.10}', x'00ff10', '', ST_GeomFromText('POINT(1 2)'), '123e4567-e89b-12d3-a456-426614174000');
      INSERT INTO t (id, day, at, ts, t, y) VALUES (1, '0000-00-00', '2026-00-10 00:00:00', '0000-00-00 00:00:00', '838:00:00', 0);
      SET check_constraint_checks = 0; INSERT INTO t (id, j) VALUES (2, 'no JSON');`,
    );
    const { summary, lines } = await read(configOf("kinds"), "t");
    expect(summary).toMatchObject({ status: "succeeded", recordCount: 3, nulledCount: 4 });
    const [zeros = "", unchecked = "", whole = ""] = lines;
    for (const part of [
      '{"id":18446744073709551615,"small":1,"big":-9223372036854775808,',
      '"n":-12345678901234567890.123456789012345678901234567890,"whole":123456789012345678901234567890,"z":42,',
      '"f":0.1,"d":1.7976931348623157e+308,"b":18446744073709551615,"flags":5,"day":"2026-02-28",',
      '"at":"2026-01-02T03:04:05.123456","ts":"2026-01-02T01:04:05.678Z","t":"-838:59:58.999999","y":2155,',
      `"e":"b'c","s":"x,y","c":"é","latin":"straße","txt":"🐘 '\\"\\\\","j":{"n":12345678901234567890.10},`,
      '"bin":"AP8Q","bl":"","p":"POINT(1 2)","u":"123e4567-e89b-12d3-a456-426614174000"',
    ])
      expect(whole).toContain(part);
    expect(zeros).toContain('"day":null,"at":null,"ts":null,"t":"838:00:00.000000","y":0');
    expect(unchecked).toContain('"j":null');
  });

  test("a full refresh goes on behind every checkpoint, each row once, over any key", async () => {
    await fill(
      "resumed",
      `CREATE TABLE t (a varchar(20), b varbinary(8), c datetime(6), y year, f bit(10), n decimal(20, 3), id int, PRIMARY KEY (a, b, c, y, f, n));
       INSERT INTO t SELECT concat(char(65 + seq % 3), '''\\\\\`"', seq div 9), unhex(lpad(hex(seq div 3), 2, '0')), '2026-01-01' + interval seq div 2 microsecond,
         if(seq % 2, 0, 2001), seq, -seq / 7, seq FROM seq_1_to_50;`,
    );
    const config = configOf("resumed", { page_size: 7 });
    const whole = await readHere(config, "t");
    expect(new Set(whole.ids).size).toBe(50);
    expect(whole.states).toHaveLength(8);
    for (const [at, state] of whole.states.entries()) {
      const rest = await readHere(config, "t", { state });
      expect(rest.ids).toEqual(whole.ids.slice((at + 1) * 7));
    }
  });

  test("an incremental read finds rows that came later with the same value, and those without one are read first", async () => {
    await fill(
      "later",
      `CREATE TABLE t (id int PRIMARY KEY AUTO_INCREMENT, updated_at datetime(6), made timestamp NULL, KEY (updated_at));
       INSERT INTO t VALUES (1, '2026-01-01', NULL), (2, '2026-01-02', NULL), (3, NULL, NULL)`,
    );
    const config = configOf("later", { page_size: 1 });
    expect(named(await discover(config), "t")).toMatchObject({
      namespace: "later",
      source_defined_primary_key: [["id"]],
      is_resumable: true,
      proposed_cursors: [
        { field: "updated_at", finds: "changes", is_indexed: true, is_nullable: true },
        { field: "id", finds: "new_rows", is_indexed: true },
      ],
    });
    const first = await read(config, "t", { cursor: "updated_at" });
    expect([first.error, ids(first.lines)]).toEqual([undefined, [3, 1, 2]]);
    expect(first.state).toEqual({
      mode: "incremental",
      cursor_field: "updated_at",
      cursor: "2026-01-02 00:00:00.000000",
      without: 1,
    });
    await run("INSERT INTO later.t VALUES (4, '2026-01-02', NULL), (5, '2026-01-03', NULL)");
    const second = await read(config, "t", { cursor: "updated_at", state: first.state });
    expect(ids(second.lines)).toEqual([2, 4, 5]);
    await run("INSERT INTO later.t VALUES (6, NULL, NULL), (7, NULL, NULL)");
    const events: HostEvent[] = [];
    const third = await read(config, "t", {
      cursor: "updated_at",
      state: second.state,
      onEvent: (event) => events.push(event),
    });
    expect(ids(third.lines)).toEqual([5]);
    expect(events).toMatchObject([{ level: "warn", fields: { stream: "later.t", unreadRows: 2 } }]);
  });

  test("a table is read from one snapshot, and a session that others end is an error that can be tried again", async () => {
    await fill(
      "still",
      "CREATE TABLE t (id int PRIMARY KEY, txt varchar(60000)); INSERT INTO t SELECT seq, repeat('x', 50000) FROM seq_1_to_400",
    );
    const config = configOf("still");
    const stream = named(await discover(config), "t");
    const meddling = async (sql: string) => {
      const sink = createMemorySink();
      let isDone = false;
      const write = sink.write.bind(sink);
      sink.write = async (...batch) => {
        if (!isDone) await run(sql);
        isDone = true;
        await write(...batch);
      };
      const catalog = { streams: [{ stream, sync_mode: "full_refresh" as const }] };
      const summary = await host.read(connector, { config, catalog } as never, sink);
      return [summary.recordCount, summary.streams[0]?.error?.code];
    };
    expect(
      await meddling("DELETE FROM still.t WHERE id > 100; INSERT INTO still.t VALUES (999, '')"),
    ).toEqual([400, undefined]);
    await run("USE still; INSERT INTO t SELECT seq, repeat('x', 50000) FROM seq_101_to_400");
    const [count, code] = await meddling(
      "SELECT concat('KILL ', id) INTO @sql FROM information_schema.processlist WHERE user = 'reader' ORDER BY command = 'Query' DESC LIMIT 1; EXECUTE IMMEDIATE @sql",
    );
    expect(count).toBeLessThan(401);
    expect(["CONNECTION_FAILED", "PROVIDER_UNAVAILABLE"]).toContain(code);
  });

  test("every kind of cursor goes on from the value that it has saved", async () => {
    await fill(
      "cursors",
      `CREATE TABLE t (id int PRIMARY KEY, i bigint unsigned, n decimal(30, 5), s varchar(9) CHARACTER SET latin1, v varbinary(4), d date, ts timestamp(6) NULL, t time(2), y year, f bit(40));
       INSERT INTO t VALUES (1, 1, 0.1, 'a''\\\\', x'00', '1999-12-31', '1999-12-31 00:00:00', '-20:00:00', 1999, 1), (2, 18446744073709551615, 12345678901234567890.5, 'é', x'ff27', '2026-02-03', '2026-02-03 04:05:06.000007', '30:00:00.25', 2026, b'1000000000000000000000000000000000000000');`,
    );
    for (const cursor of ["i", "n", "s", "v", "d", "ts", "t", "y", "f"]) {
      const first = await readHere(configOf("cursors"), "t", { cursor });
      expect([cursor, first.ids]).toEqual([cursor, [1, 2]]);
      const again = await readHere(configOf("cursors"), "t", {
        cursor,
        state: first.states.at(-1),
      });
      expect([cursor, again.error, again.ids]).toEqual([cursor, undefined, [2]]);
    }
  });

  test("a damaged state is refused, and never becomes SQL", async () => {
    await fill(
      "damaged",
      "CREATE TABLE t (id bigint PRIMARY KEY, at datetime, b blob); INSERT INTO t VALUES (1, now(), '')",
    );
    const config = configOf("damaged");
    const keyed = ["1 OR TRUE", "x", "", "1e3"].map((value) => ({
      state: { mode: "full_refresh", key: ["id"], after: [value] },
    }));
    const moments = ["2026-01-01' OR 1", "yesterday", ""].map((value) => ({
      cursor: "at",
      state: { mode: "incremental", cursor_field: "at", cursor: value },
    }));
    const foreign = [
      { state: { mode: "full_refresh", key: ["at"], after: ["2026-01-01"] } },
      { state: { mode: "incremental", cursor_field: "at", cursor: null } },
      { cursor: "at", state: { mode: "incremental", cursor_field: "id", cursor: "1" } },
    ];
    for (const damaged of [...keyed, ...moments, ...foreign])
      expect([damaged.state, (await readHere(config, "t", damaged)).error?.code]).toEqual([
        damaged.state,
        "STATE_INVALID",
      ]);
  });

  test("tables are chosen by patterns with their case, and what may not be read is left out", async () => {
    await run(
      `CREATE DATABASE chosen; USE chosen; CREATE TABLE \`t'0_%\` (id int); CREATE TABLE \`t'1_%\` (id int); CREATE TABLE \`t'2x%\` (id int);
       CREATE TABLE \`T'3_%\` (id int); CREATE TABLE \`t'4_%\` (id int, hidden int); CREATE TABLE \`t'5_%\` (id int); CREATE VIEW \`t'6_%\` AS SELECT 1 AS id;
       ${[0, 1, 2, 6].map((at) => `GRANT SELECT ON chosen.\`t'${at}${at === 2 ? "x" : "_"}%\` TO reader`).join(";")};
       GRANT SELECT ON chosen.\`T'3_%\` TO reader; GRANT SELECT (id) ON chosen.\`t'4_%\` TO reader; GRANT INSERT ON chosen.\`t'5_%\` TO reader;`,
    );
    const config = configOf("chosen", { include_tables: ["t'?_%"], exclude_tables: ["*1_%"] });
    const found = await host.discover(connector, config as never);
    expect(found.map(({ name }) => name)).toEqual(["t'0_%", "t'4_%", "t'6_%"]);
    expect(Object.keys(found[1]?.json_schema.properties ?? {})).toEqual(["id"]);
  });

  test("row filters compare as the type does, and go with both modes; what does not fit is refused", async () => {
    await fill(
      "filtered",
      `CREATE TABLE t (id int PRIMARY KEY, s varchar(20), f float, at datetime(3), ts timestamp, e enum('z', 'a'), j json, ok tinyint(1));
       INSERT INTO t VALUES (1, 'a''"\\\\', 0.1, '2026-01-01 00:00:00.5', '2026-01-01 00:00:00', 'z', '1', 1), (2, 'b', 2, '2026-01-02', '2026-01-02 00:00:00', 'a', '2', 0), (3, NULL, NULL, NULL, NULL, NULL, NULL, NULL)`,
    );
    const config = configOf("filtered");
    const filtered = async (column: string, operator: string, value?: unknown, cursor?: string) => {
      const { error, ids: found } = await readHere(config, "t", {
        filter: [{ column, operator, ...(value === undefined ? {} : { value }) }],
        ...(cursor === undefined ? {} : { cursor }),
      });
      return error ? error.code : found;
    };
    expect(await filtered("s", "=", "a'\"\\")).toEqual([1]);
    expect(await filtered("f", "=", 0.1)).toEqual([1]);
    expect(await filtered("at", ">", "2026-01-01T00:00:00.5", "id")).toEqual([2]);
    // In the time zone of the server, five hours ahead.
    expect(await filtered("ts", ">=", "2026-01-01T20:00:00+01:00")).toEqual([2]);
    expect(await filtered("e", "in", ["a", "q"])).toEqual([2]);
    expect(await filtered("ok", "=", true)).toEqual([1]);
    expect(await filtered("j", "is null")).toEqual([3]);
    expect(await filtered("id", "not in", [1, 2])).toEqual([3]);
    expect(await filtered("id", "=", "1 OR TRUE")).toBe("CATALOG_INVALID");
    expect(await filtered("e", ">", "a")).toBe("CATALOG_INVALID");
    expect(await filtered("j", "=", "1")).toBe("CATALOG_INVALID");
    expect(await filtered("at", ">", "soon")).toBe("CATALOG_INVALID");
  });

  test("a query is a stream with the server's types; what is no SELECT that only reads is refused", async () => {
    await fill(
      "asked",
      `CREATE TABLE t (id int unsigned PRIMARY KEY, n decimal(10, 2), at datetime, b varbinary(3), e enum('x'));
       INSERT INTO t VALUES (1, 1.50, '2026-01-01', x'00', 'x'), (2, 2.50, '2026-01-02', x'ff', NULL);`,
    );
    const asking = (sql: string, more: object = {}) =>
      configOf("asked", { queries: [{ name: "q", sql, ...more }] });
    const config = asking(
      "SELECT id, n * 2 AS twice, at, b, e, 'txt' AS s, count(*) OVER () AS c FROM t -- all",
      {
        primary_key: ["id"],
        cursor_field: "at",
      },
    );
    const stream = named(await discover(config), "q");
    expect(stream).not.toHaveProperty("namespace");
    expect(stream).toMatchObject({
      source_defined_primary_key: [["id"]],
      default_cursor_field: ["at"],
    });
    const first = await read(config, "q", { cursor: "at" });
    expect(first.lines[0]).toBe(
      '{"id":1,"twice":3.00,"at":"2026-01-01T00:00:00","b":"AA==","e":"x","s":"txt","c":2}',
    );
    expect(ids((await read(config, "q", { cursor: "at", state: first.state })).lines)).toEqual([2]);

    const checked = async (sql: string, more: object = {}) => {
      const outcome = await plain.check(connector, asking(sql, more) as never);
      return outcome.status === "failed" ? outcome.error.details?.reason : "succeeded";
    };
    for (const [sql, reason] of [
      ["SELECT 1; SELECT 2", "its SQL has an error"],
      ["DELETE FROM t", "the user has not the right to all that it does"],
      ["SHOW TABLES", "it is not one SELECT"],
      ["SELECT 1) AS a, (SELECT 2", "its SQL has an error"],
      ["SELECT id FROM t WHERE id = ?", "it has a parameter: a question mark without quotes"],
      [
        "SELECT id, id AS ID FROM t",
        "two of its columns have the name ID: name one of them with AS",
      ],
      ["SELECT nothing FROM t", "it names a column that there is not"],
      ["SELECT 1 FROM nowhere", "it names a table that there is not"],
      ["SELECT 1 /*", "its SQL has an error"],
    ] as const)
      expect([sql, await checked(sql)]).toEqual([sql, `q: ${reason}`]);
    expect(await checked("SELECT id FROM t", { primary_key: ["a"] })).toBe(
      "q: it gives no column a, which primary_key names",
    );
  });

  test("wide tables and selected fields are read; a row beyond 16 MiB is an error that names its table", async () => {
    const columns = Array.from({ length: 1_000 }, (_, at) => `c${at} tinyint`);
    await fill(
      "large",
      `CREATE TABLE wide (id int PRIMARY KEY, ${columns}) ENGINE = MyISAM; INSERT INTO wide (id, c999) VALUES (1, 7);
       CREATE TABLE t (id int PRIMARY KEY, txt longtext, bin longblob); SET max_statement_time = 0;
       INSERT INTO t VALUES (1, repeat('x', 15000000), NULL), (2, NULL, repeat('x', 12000000));
       CREATE TABLE u (id int PRIMARY KEY, txt longtext); INSERT INTO u VALUES (1, 'a'), (2, repeat('x', 17000000))`,
    );
    const config = configOf("large");
    expect((await read(config, "wide")).lines[0]).toMatch(/"c998":null,"c999":7}$/);
    expect((await read(config, "wide", { fields: ["c999"], reader: plain })).lines).toEqual([
      '{"id":1,"c999":7}',
    ]);
    const { summary, states } = await read(config, "t");
    expect(summary).toMatchObject({ status: "succeeded", recordCount: 2 });
    expect(states).toHaveLength(2);
    expect((await read(config, "u")).error).toMatchObject({
      code: "RECORD_TOO_LARGE",
      details: { stream: "large.u" },
    });
  });

  test("what has changed since the tables were discovered is told", async () => {
    await fill(
      "moved",
      "CREATE TABLE t (id int PRIMARY KEY, n int, at datetime); INSERT INTO t VALUES (1, 2, now())",
    );
    const config = configOf("moved");
    const before = named(await discover(config), "t");
    await run(
      "ALTER TABLE moved.t RENAME COLUMN at TO later, MODIFY n varchar(9), ADD added int; UPDATE moved.t SET n = 'two'",
    );
    const { lines, summary } = await read(config, "t", { stream: before, reader: plain });
    expect(lines[0]).toMatch(/^{"id":1,"n":null,"at":null,/);
    expect(summary.nulledCount).toBe(1);
    expect(
      (await read(config, "t", { stream: before, cursor: "at", reader: plain })).error,
    ).toMatchObject({
      code: "SYNC_MODE_UNSUPPORTED",
      details: { problem: "the cursor field is no column of the table" },
    });
    expect((await read(config, "t", { stream: { name: "gone" }, reader: plain })).error?.code).toBe(
      "STREAM_UNKNOWN",
    );
    // A catalog does not lead to what the settings do not name.
    expect(
      (await read(config, "t", { stream: { namespace: "kinds" }, reader: plain })).error?.code,
    ).toBe("STREAM_UNKNOWN");
  });

  test("check says what is wrong, and whose it is", async () => {
    await fill("usable", "CREATE TABLE t (id int)");
    await fill("empty_one", "SELECT 1");
    await run("CREATE DATABASE closed_one");
    const check = async (config: Config) => {
      const outcome = await host.check(connector, config as never);
      return outcome.status === "failed" ? outcome.error.code : outcome.status;
    };
    expect(await check(configOf("usable"))).toBe("succeeded");
    expect(await check(configOf("empty_one"))).toBe("DATABASE_UNUSABLE");
    expect(await check(configOf("closed_one"))).toBe("PERMISSION_DENIED");
    expect(await check(configOf("usable", { password: "wrong" }))).toBe("CREDENTIALS_REJECTED");
  });
});
