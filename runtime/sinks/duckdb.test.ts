import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock } from "../clock.ts";
import type { ConfiguredStream } from "../contract/catalog.ts";
import type { JsonSchema } from "../contract/json.ts";
import type { SyncMode } from "../contract/stream.ts";
import { openDuckdbOutput } from "./duckdb.ts";

let root: string;
let fileCount = 0;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "svc-duckdb-"));
});
afterAll(() => rm(root, { recursive: true, force: true }));

const newFile = () => join(root, `${fileCount++}.duckdb`);
const options = { connectorId: "conn_test", clock: systemClock };

interface Described {
  readonly name?: string;
  readonly namespace?: string;
  readonly mode?: SyncMode;
  readonly key?: string[];
  readonly fields?: string[];
}

function configured(properties: { [name: string]: JsonSchema }, described: Described = {}): ConfiguredStream {
  const { name = "things", namespace, mode = "full_refresh", key = [], fields } = described;
  return {
    stream: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      json_schema: { type: "object", properties },
      supported_sync_modes: ["full_refresh", "incremental"],
      source_defined_cursor: true,
      default_cursor_field: ["id"],
      source_defined_primary_key: key.map((property) => [property]),
      is_resumable: false,
    },
    sync_mode: mode,
    ...(fields ? { selected_fields: fields } : {}),
  };
}

/** One run that writes these lines to each of the streams. */
async function write(file: string, streams: ConfiguredStream[], lines: string[]): Promise<string[]> {
  const sink = await openDuckdbOutput(file, options);
  try {
    await sink.open(streams);
    for (const { stream } of streams) {
      await sink.status(stream, "started");
      if (lines.length > 0)
        await sink.write(stream, Buffer.from(lines.map((line) => `${line}\n`).join("")), lines.length);
      await sink.checkpoint(stream, { position: 1 }, lines.length);
      await sink.status(stream, "complete");
    }
    return streams.map(({ stream }) => sink.location(stream));
  } finally {
    await sink.close();
  }
}

async function query(file: string, sql: string): Promise<unknown[][]> {
  const instance = await DuckDBInstance.create(file);
  const connection = await instance.connect();
  try {
    await connection.run("SET TimeZone = 'UTC'");
    return (await connection.runAndReadAll(sql)).getRowsJson();
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

const typesOf = async (file: string, table: string) =>
  Object.fromEntries((await query(file, `DESCRIBE ${table}`)).map(([name, type]) => [name, type]));

test("columns have the types of the schema, and two of their own", async () => {
  const file = newFile();
  const nullable = (schema: JsonSchema) => ({ anyOf: [schema, { type: "null" }] });
  const properties = {
    id: { type: "integer" },
    wide: { type: "integer", maximum: 2 ** 70 },
    rate: nullable({ type: "number" }),
    price: { type: "number", airbyte_type: "big_number", precision: 20, scale: 4 },
    ok: { type: ["boolean", "null"] },
    at: nullable({ type: "string", format: "date-time" }),
    local: { type: "string", format: "date-time", airbyte_type: "timestamp_without_timezone" },
    day: { type: "string", format: "date" },
    text: { type: "string" },
    tags: { type: "array" },
    data: { type: "object" },
    mixed: { anyOf: [{ type: "string" }, { type: "integer" }] },
    anything: {},
  };
  await write(file, [configured(properties)], []);
  expect(await typesOf(file, "things")).toEqual({
    id: "BIGINT",
    wide: "HUGEINT",
    rate: "DOUBLE",
    price: "DECIMAL(20,4)",
    ok: "BOOLEAN",
    at: "TIMESTAMP WITH TIME ZONE",
    local: "TIMESTAMP",
    day: "DATE",
    text: "VARCHAR",
    tags: "JSON",
    data: "JSON",
    mixed: "VARCHAR",
    anything: "JSON",
    _svc_extracted_at: "TIMESTAMP WITH TIME ZONE",
    _svc_meta: "JSON",
  });
});

test("values keep their worth: 64-bit integers, exact decimals, microseconds, quotes, emoji, NUL, nested JSON, what was nulled", async () => {
  const file = newFile();
  const properties = {
    id: { type: "integer" },
    wide: { type: "integer", airbyte_type: "big_integer" },
    price: { type: "number", airbyte_type: "big_number", precision: 38, scale: 10 },
    free: { type: "number", airbyte_type: "big_number" },
    at: { type: "string", format: "date-time" },
    text: { type: "string" },
    data: { type: "object" },
  };
  const line =
    '{"id":9223372036854775807,"wide":123456789012345678901234567890,"price":1234567890123456.1234567891,"free":0.1000000000000000000001,' +
    '"at":"2024-01-01T02:00:00.123456+02:00","text":"1234567890.1234567890 \\" \\\\ \\n ü 😀 \\u0000","data":{"a":[1,{"b":null}]},"_svc_meta":{"changes":[{"field":"x"}]}}';
  await write(file, [configured(properties)], [line]);
  const [row] = await query(file, 'SELECT id, wide, price, free, "at", text, data, _svc_meta FROM things');
  expect(row).toEqual([
    "9223372036854775807",
    "123456789012345678901234567890",
    "1234567890123456.1234567891",
    "0.1000000000000000000001",
    "2024-01-01 00:00:00.123456+00",
    '1234567890.1234567890 " \\ \n ü 😀 \u0000',
    '{"a":[1,{"b":null}]}',
    '{"changes":[{"field":"x"}]}',
  ]);
});

test("numbers inside JSON values stay numbers, except those that a double would change", async () => {
  const file = newFile();
  const line =
    '{"data":[0.1,0.30000000000000004,12345678901234567.25,12345678901234567890123,"1.2345678901234567890"]}';
  await write(file, [configured({ data: { type: "array" } })], [line]);
  expect(await query(file, "SELECT data FROM things")).toEqual([
    ['[0.1,0.30000000000000004,"12345678901234567.25",12345678901234567890123,"1.2345678901234567890"]'],
  ]);
});

test("half a surrogate pair, which DuckDB refuses, becomes a replacement character; escaped backslashes are left alone", async () => {
  const file = newFile();
  const lines = ['{"t":"a\\ud800b"}', '{"t":"\\udc00"}', '{"t":"\\ud83d\\ude00"}', '{"t":"\\\\ud800"}'];
  await write(file, [configured({ t: { type: "string" } })], lines);
  expect(await query(file, "SELECT t FROM things")).toEqual([["a\ufffdb"], ["\ufffd"], ["😀"], ["\\ud800"]]);
});

test("a value that does not fit widens its column instead of failing the read or losing the value", async () => {
  const file = newFile();
  const properties = {
    big: { type: "integer" },
    at: { type: "string", format: "date-time" },
    day: { type: "string", format: "date" },
    fine: { type: "integer" },
  };
  const stream = configured(properties, { mode: "incremental" });
  await write(file, [stream], ['{"big":1,"at":"2024-01-01T00:00:00Z","day":"2024-01-01","fine":1}']);
  await write(file, [stream], ['{"big":9223372036854775808,"at":"2024-02-30T00:00:00Z","day":"2024-02-30","fine":2}']);
  await write(file, [stream], ['{"big":3,"at":"2024-03-01T00:00:00Z","day":"2024-03-01","fine":3}']);
  expect(await typesOf(file, "things")).toMatchObject({
    big: "HUGEINT",
    at: "VARCHAR",
    day: "VARCHAR",
    fine: "BIGINT",
  });
  expect(await query(file, 'SELECT big, "at", day, fine FROM things ORDER BY fine')).toEqual([
    ["1", "2024-01-01 00:00:00+00", "2024-01-01", "1"],
    ["9223372036854775808", "2024-02-30T00:00:00Z", "2024-02-30", "2"],
    ["3", "2024-03-01T00:00:00Z", "2024-03-01", "3"],
  ]);
});

test("an incremental read replaces rows of the same key, across runs and within one; the last one counts", async () => {
  const file = newFile();
  const properties = { org: { type: "string" }, id: { type: "integer" }, name: { type: "string" } };
  const stream = configured(properties, { mode: "incremental", key: ["org", "id"] });
  await write(
    file,
    [stream],
    ['{"org":"a","id":1,"name":"old"}', '{"org":"b","id":1,"name":"other"}', '{"org":"a","id":1,"name":"new"}'],
  );
  await write(file, [stream], ['{"org":"b","id":1,"name":"newest"}', '{"org":"b","id":2,"name":"more"}']);
  expect(await query(file, "SELECT org, id, name FROM things ORDER BY org, id")).toEqual([
    ["a", "1", "new"],
    ["b", "1", "newest"],
    ["b", "2", "more"],
  ]);
});

test("a property that the schema gained becomes a column; one that it lost stays", async () => {
  const file = newFile();
  await write(
    file,
    [configured({ id: { type: "integer" }, old: { type: "string" } }, { mode: "incremental" })],
    ['{"id":1,"old":"x"}'],
  );
  await write(
    file,
    [configured({ id: { type: "integer" }, more: { type: "number" } }, { mode: "incremental" })],
    ['{"id":2,"more":1.5}'],
  );
  expect(await query(file, "SELECT id, old, more FROM things ORDER BY id")).toEqual([
    ["1", "x", null],
    ["2", null, 1.5],
  ]);
});

test("only selected properties become columns", async () => {
  const file = newFile();
  await write(
    file,
    [configured({ id: { type: "integer" }, secretive: { type: "string" } }, { fields: ["id"] })],
    ['{"id":1}'],
  );
  expect(Object.keys(await typesOf(file, "things"))).toEqual(["id", "_svc_extracted_at", "_svc_meta"]);
});

test("properties whose names differ in case only, are empty, or are the sink's own, each have their column", async () => {
  const file = newFile();
  const names = ["ID", "id", "", "_svc_meta", "quote\"'d", "a/b~c", "ünï", "JSON"];
  const properties = Object.fromEntries(names.map((name) => [name, { type: "string" }]));
  const line = JSON.stringify(Object.fromEntries(names.map((name, index) => [name, `v${index}`])));
  await write(
    file,
    [configured({ ...properties, o: { type: "object" }, n: { type: "object" } })],
    [line.replace("}", ',"o":{"x":1},"n":null}')],
  );
  const [row] = await query(file, "SELECT * EXCLUDE (_svc_extracted_at, _svc_meta) FROM things");
  expect(row).toEqual([...names.map((_, index) => `v${index}`), '{"x":1}', null]);
});

test("streams whose names differ in case only, or are hostile, each have their table; namespaces are schemas", async () => {
  const file = newFile();
  const properties = { id: { type: "integer" } };
  const streams = [
    configured(properties, { name: "Users" }),
    configured(properties, { name: "users" }),
    configured(properties, { name: "users", namespace: "public" }),
    configured(properties, { name: "x", namespace: "information_schema" }),
    configured(properties, { name: 'a"; DROP TABLE users; --' }),
    configured(properties, { name: "_svc_state" }),
    configured(properties, { name: "select" }),
    configured(properties, { name: "../../etc/x" }),
  ];
  const locations = await write(file, streams, ['{"id":1}']);
  expect(new Set(locations.map((name) => name.toLowerCase())).size).toBe(streams.length);
  expect(locations.slice(0, 3)).toEqual([
    '"Users"',
    expect.stringMatching(/^"users_[0-9a-f]{8}"$/),
    '"public"."users"',
  ]);
  for (const location of locations) expect(await query(file, `SELECT id FROM ${location}`)).toEqual([["1"]]);
  // The names stay with the streams, also when a later run selects one of them only.
  expect(await write(file, streams.slice(1, 2), ['{"id":2}'])).toEqual(locations.slice(1, 2));
});

test("a table that svc did not write is never touched", async () => {
  const file = newFile();
  await query(file, "CREATE TABLE things AS SELECT 42 AS answer");
  await expect(write(file, [configured({ id: { type: "integer" } })], ['{"id":1}'])).rejects.toMatchObject({
    code: "OUTPUT_FAILED",
  });
  expect(await query(file, "SELECT answer FROM things")).toEqual([[42]]);
});

test("rows without any checkpoint go to the table in parts, so the stage stays small, and are all there in the end", async () => {
  const file = newFile();
  const stream = configured({ id: { type: "integer" } });
  const sink = await openDuckdbOutput(file, options);
  await sink.open([stream]);
  await sink.status(stream.stream, "started");
  for (let page = 0; page < 26; page++) {
    const lines = Array.from({ length: 10_000 }, (_, row) => `{"id":${page * 10_000 + row}}\n`).join("");
    await sink.write(stream.stream, Buffer.from(lines), 10_000);
  }
  await sink.status(stream.stream, "complete");
  await sink.close();
  expect(await query(file, "SELECT count(*), count(DISTINCT id), max(id) FROM things")).toEqual([
    ["260000", "260000", "259999"],
  ]);
  expect((await readdir(root)).filter((name) => name.startsWith(`${fileCount - 1}.duckdb.`))).toEqual([]);
});

test.each([
  ["a folder", "it is a folder", async (path: string) => mkdir(path)],
  ["not a DuckDB file", "not a DuckDB file", async (path: string) => writeFile(path, "x".repeat(20_000))],
])("a path that is %s is told in one sentence", async (_, reason, prepare) => {
  const file = newFile();
  await prepare(file);
  const opening = openDuckdbOutput(file, options);
  await expect(opening).rejects.toMatchObject({ code: "OUTPUT_FAILED", message: expect.stringContaining(reason) });
  await expect(opening).rejects.not.toMatchObject({ message: expect.stringContaining(file) });
});

test.skipIf(process.getuid?.() === 0)("a folder without permission is told as that", async () => {
  const folder = join(root, "closed");
  await mkdir(folder);
  await chmod(folder, 0o500);
  await expect(openDuckdbOutput(join(folder, "x.duckdb"), options)).rejects.toMatchObject({
    code: "OUTPUT_FAILED",
    details: { reason: "no permission" },
  });
});
