import { chmod, mkdir, mkdtemp, readdir, readlink, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { describeDestination, describeStream } from "../../../tests/destination-behaviour.ts";
import { duckdbContext, openDuckdbPlace } from "../../../tests/duckdb-place.ts";
import duckdb from "./index.ts";

describeDestination("duckdb", openDuckdbPlace);

const clock = { now: () => 1_700_000_000_000, sleep: async () => {} };
let place: Awaited<ReturnType<typeof openDuckdbPlace>>;
let folder: string;
beforeAll(async () => {
  place = await openDuckdbPlace(clock);
  folder = await mkdtemp(join(tmpdir(), "svc-duckdb-place-"));
});
afterAll(async () => {
  await place.close();
  await rm(folder, { recursive: true, force: true });
});

/** One run of one stream, in the place of all. */
async function write(
  name: string,
  properties: { readonly [property: string]: object },
  lines: string[],
  fence = 1,
) {
  const stream = describeStream(properties, { name });
  const sink = await place.write({ owner: name, jobId: "job", fence, streams: [stream] });
  try {
    await sink.status({ name }, "started");
    await sink.write(
      { name },
      Buffer.from(lines.map((line) => `${line}\n`).join("")),
      lines.length,
    );
    await sink.checkpoint({ name }, { at: fence }, lines.length);
    await sink.status({ name }, "complete");
    return sink.location({ name });
  } finally {
    await sink.close();
  }
}

const typesOf = async (location: string) =>
  Object.fromEntries((await place.sql(`DESCRIBE ${location}`)).map(([name, type]) => [name, type]));

describe("types", () => {
  const nullable = (schema: object) => ({ anyOf: [schema, { type: "null" }] });

  test("columns have the types of the schema, and four of their own", async () => {
    const location = await write(
      "typed",
      {
        id: { type: "integer" },
        wide: { type: "integer", maximum: 2 ** 70 },
        rate: nullable({ type: "number" }),
        price: { type: "number", airbyte_type: "big_number", precision: 20, scale: 4 },
        free: { type: "number", airbyte_type: "big_number" },
        ok: { type: ["boolean", "null"] },
        at: nullable({ type: "string", format: "date-time" }),
        local: { type: "string", format: "date-time", airbyte_type: "timestamp_without_timezone" },
        day: { type: "string", format: "date" },
        text: { type: "string" },
        tags: { type: "array" },
        mixed: { anyOf: [{ type: "string" }, { type: "integer" }] },
        anything: {},
      },
      [],
    );
    expect(await typesOf(location)).toEqual({
      id: "BIGINT",
      wide: "HUGEINT",
      rate: "DOUBLE",
      price: "DECIMAL(20,4)",
      free: "DECIMAL(18,3)",
      ok: "BOOLEAN",
      at: "TIMESTAMP WITH TIME ZONE",
      local: "TIMESTAMP",
      day: "DATE",
      text: "VARCHAR",
      tags: "JSON",
      mixed: "VARCHAR",
      anything: "JSON",
      _svc_id: "UUID",
      _svc_extracted_at: "TIMESTAMP WITH TIME ZONE",
      _svc_job_id: "VARCHAR",
      _svc_meta: "JSON",
    });
  });

  test("only the column that a value does not fit is widened", async () => {
    const properties = {
      big: { type: "integer" },
      day: { type: "string", format: "date" },
      fine: { type: "integer" },
    };
    await write("widened", properties, ['{"big":1,"day":"2024-01-01","fine":1}']);
    const lines = ['{"big":9223372036854775808,"day":"2024-02-30","fine":2}'];
    expect(await typesOf(await write("widened", properties, lines, 2))).toMatchObject({
      big: "HUGEINT",
      day: "VARCHAR",
      fine: "BIGINT",
    });
  });

  test("numbers inside JSON values keep their digits, also beside exact columns", async () => {
    const properties = {
      data: { type: "array" },
      price: { type: "number", airbyte_type: "big_number", precision: 38, scale: 20 },
    };
    const data =
      '[0.1,0.30000000000000004,12345678901234567.25,12345678901234567890123,"1.2345678901234567890"]';
    const location = await write("nested", properties, [
      `{"data":${data},"price":0.12345678901234567890}`,
    ]);
    expect(await place.sql(`SELECT data, price FROM ${location}`)).toEqual([
      [data, "0.12345678901234567890"],
    ]);
  });

  test("a number that a double cannot hold makes its column text; the others keep their worth", async () => {
    const properties = {
      id: { type: "integer" },
      a: { type: "number" },
      b: { type: "number" },
      c: { type: "number" },
    };
    const lines = [
      '{"id":1,"a":0.5,"b":1.5,"c":2.5}',
      '{"id":2,"a":0.12345678901234567891,"b":9007199254740993,"c":12345678}',
    ];
    const location = await write("doubles", properties, lines);
    expect(await typesOf(location)).toMatchObject({ a: "VARCHAR", b: "VARCHAR", c: "DOUBLE" });
    expect(await place.sql(`SELECT a, b, c FROM ${location} ORDER BY id`)).toEqual([
      ["0.5", "1.5", "2.5"],
      ["0.12345678901234567891", "9007199254740993", "12345678"],
    ]);
  });
});

describe("the file", () => {
  test("rows without a checkpoint go to a table in parts, so the stage stays small, and nothing is left beside the file", async () => {
    const stream = describeStream(
      { id: { type: "integer" } },
      { name: "parts", mode: "full_refresh", into: "overwrite" },
    );
    const sink = await place.write({ owner: "parts", jobId: "job", fence: 1, streams: [stream] });
    await sink.status({ name: "parts" }, "started");
    for (let page = 0; page < 26; page++) {
      const lines = Array.from(
        { length: 10_000 },
        (_, row) => `{"id":${page * 10_000 + row}}\n`,
      ).join("");
      await sink.write({ name: "parts" }, Buffer.from(lines), 10_000);
    }
    expect(sink.location({ name: "parts" })).toBe("");
    await sink.status({ name: "parts" }, "complete");
    await sink.close();
    const sql = `SELECT count(*), count(DISTINCT id), max(id) FROM ${sink.location({ name: "parts" })}`;
    expect(await place.sql(sql)).toEqual([["260000", "260000", "259999"]]);
    expect(
      (await readdir(join(place.path, ".."))).filter((name) => name.includes("stage")),
    ).toEqual([]);
  });

  test.each([
    ["a folder", "it is a folder, not a file", async (path: string) => mkdir(path)],
    [
      "not a DuckDB file",
      "it is not a DuckDB file that this version reads",
      async (path: string) => writeFile(path, "x".repeat(20_000)),
    ],
    ["in a folder that is gone", "its folder does not exist", async () => undefined],
  ])("a path that is %s is told in one sentence", async (name, reason, prepare) => {
    const path = name.startsWith("in")
      ? join(folder, "gone", "x.duckdb")
      : join(folder, `${name}.duckdb`);
    await prepare(path);
    const ctx = duckdbContext(path, clock);
    for (const failing of [
      duckdb.check(ctx),
      duckdb.write(ctx, { owner: "o", jobId: "j", fence: 1, streams: [] }),
    ]) {
      await expect(failing).rejects.toMatchObject({ code: "OUTPUT_FAILED", details: { reason } });
      await expect(failing).rejects.not.toMatchObject({ message: expect.stringContaining(folder) });
    }
  });

  test.skipIf(process.getuid?.() === 0)("a folder without permission is told as that", async () => {
    const closed = join(folder, "closed");
    await mkdir(closed);
    await chmod(closed, 0o500);
    const checking = duckdb.check(duckdbContext(join(closed, "x.duckdb"), clock));
    await expect(checking).rejects.toMatchObject({
      code: "OUTPUT_FAILED",
      details: { reason: "no permission" },
    });
  });
});

test.runIf(process.platform === "linux").each([
  ["fit", "2024-01-01"],
  ["do not fit their column", "soon"],
])("after a writer whose rows %s nothing holds the file", async (_, day) => {
  const location = await write(`held_${day}`, { day: { type: "string", format: "date" } }, [
    JSON.stringify({ day }),
  ]);
  const open = await Promise.all(
    (await readdir("/proc/self/fd")).map((name) =>
      readlink(`/proc/self/fd/${name}`).catch(() => ""),
    ),
  );
  expect(open.filter((path) => path.startsWith(place.path))).toEqual([]);
  expect(await place.sql(`SELECT day::VARCHAR FROM ${location}`)).toEqual([[day]]);
});

describe("queries", () => {
  const query = async (sql: string, options: { maxRows?: number; timeoutMs?: number } = {}) => {
    const { pages } = await place.query({ sql, maxRows: 100, timeoutMs: 20_000, ...options });
    const rows = [];
    for await (const page of pages) rows.push(...page);
    return rows;
  };

  test.each([
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM read_text('x')",
    "SELECT * FROM glob('*')",
    "SELECT (SELECT count(*) FROM (SELECT * FROM read_blob('x')))",
    "WITH t AS (SELECT * FROM query('SELECT 1')) SELECT * FROM t",
    "SELECT * FROM duckdb_settings()",
    "SELECT path FROM duckdb_databases",
    "SELECT * FROM pragma_database_list",
    "SELECT current_setting('temp_directory')",
    "SELECT main.current_setting('temp_directory')",
    "SELECT nextval('s')",
    "PRAGMA database_list",
    "ATTACH ':memory:' AS x",
    "INSTALL httpfs",
    "LOAD httpfs",
    "CALL pragma_version()",
    "SET memory_limit = '1TB'",
    "EXPORT DATABASE 'x'",
    "VACUUM",
    "SELECT ?",
    "SELECT 1\0; DROP TABLE x",
  ])("%j is refused", async (sql) => {
    await expect(query(sql)).rejects.toMatchObject({ code: "QUERY_REFUSED" });
  });

  test("a query that does not end is stopped at its time; one that is cancelled, at once", async () => {
    const endless =
      "SELECT count(*) FROM range(1000000000000) a, range(1000000) b WHERE a.range = b.range + 1";
    await expect(query(endless, { timeoutMs: 100 })).rejects.toMatchObject({
      code: "QUERY_FAILED",
      details: { reason: "it took too long" },
    });
    const cancel = new AbortController();
    const ctx = duckdbContext(place.path, clock, cancel.signal);
    const reading = async () => {
      const result = await duckdb.query?.(ctx, { sql: endless, maxRows: 1, timeoutMs: 60_000 });
      for await (const _ of result?.pages ?? []);
    };
    setImmediate(() => cancel.abort());
    await expect(reading()).rejects.toMatchObject({ code: "CANCELLED" });
  });

  test("more rows than allowed are an error, so that nobody takes a part for the whole; a caller who stops early gets none", async () => {
    await expect(query("SELECT * FROM range(101)")).rejects.toMatchObject({
      code: "QUERY_FAILED",
      details: { reason: "it gives more than 100 rows" },
    });
    expect(await query("SELECT * FROM range(100)")).toHaveLength(100);
    const { pages } = await place.query({
      sql: "SELECT * FROM range(10000000)",
      maxRows: 10_000_000,
      timeoutMs: 20_000,
    });
    for await (const page of pages) {
      expect(page[0]).toEqual([0]);
      break;
    }
    // Nothing of it is left: the file can be written.
    await place.check();
  });

  const pairs = "range(2000) a, range(2000) b";
  test.runIf(process.platform === "linux").each([
    ["that is read to its end", "SELECT * FROM range(50)"],
    ["with more rows than allowed", "SELECT * FROM range(5000)"],
    [
      "with more rows than allowed, in an order",
      `SELECT a.range FROM ${pairs} ORDER BY a.range + b.range`,
    ],
    ["that takes too long", `SELECT count(*) FROM ${pairs}, range(2000) c, range(2000) d`],
    [
      "that fails at its last row",
      "SELECT CASE WHEN range = 49 THEN error('x') END FROM range(50)",
    ],
  ])(
    "after a query %s nothing holds the file, which somebody may open anew at once",
    async (_, sql) => {
      await query(sql, { timeoutMs: 500 }).catch(() => undefined);
      const open = await Promise.all(
        (await readdir("/proc/self/fd")).map((name) =>
          readlink(`/proc/self/fd/${name}`).catch(() => ""),
        ),
      );
      expect(open.filter((path) => path.startsWith(place.path))).toEqual([]);
    },
  );

  test("JSON columns are what they hold, integers beyond 2^53 in them text", async () => {
    const sql = `SELECT '{"a":[1,9007199254740993]}'::JSON, [1, 9007199254740993], 170141183460469231731687303715884105727::HUGEINT, DATE '2024-01-01', 'NaN'::DOUBLE`;
    expect(await query(sql)).toEqual([
      [
        { a: [1, "9007199254740993"] },
        [1, "9007199254740993"],
        "170141183460469231731687303715884105727",
        "2024-01-01",
        "NaN",
      ],
    ]);
  });

  test("intervals, times with their zone and bits are the texts that came", async () => {
    const sql = `SELECT INTERVAL '-1 year 3 days 04:05:06.78', INTERVAL '-0.000001 seconds', INTERVAL '0 days',
      NULL::INTERVAL, '12:00:00.5+05:30'::TIMETZ, '0101'::BIT, [INTERVAL '1 day']`;
    expect(await query(sql)).toEqual([
      ["P-1Y3DT4H5M6.78S", "PT-0.000001S", "PT0S", null, "12:00:00.5+05:30", "0101", ["P1D"]],
    ]);
  });

  test("bytes are base64, infinity is a word, and null is null", async () => {
    const sql = `SELECT '\\x00\\xFF'::BLOB, 'infinity'::DATE, '-infinity'::DATE, 'infinity'::TIMESTAMP, NULL::BLOB, NULL::DATE, DATE '2024-02-29'`;
    expect(await query(sql)).toEqual([
      ["AP8=", "infinity", "-infinity", "infinity", null, null, "2024-02-29"],
    ]);
  });

  test("what is unknown is named", async () => {
    const reasonOf = (sql: string) =>
      query(sql).catch((error: { details: { reason: string } }) => error.details.reason);
    expect(await reasonOf("SELECT * FROM nowhere")).toBe("there is no table nowhere");
    expect(await reasonOf("SELECT * FROM '/etc/passwd'")).toBe("there is no table of that name");
    expect(await reasonOf("SELECT nothing FROM _svc.state")).toBe("there is no column nothing");
    expect(await reasonOf("SELECT CAST('a secret' AS integer)")).toBe(
      "a value cannot be converted",
    );
  });
});
