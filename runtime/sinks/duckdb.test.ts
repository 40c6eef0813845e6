import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { afterAll, beforeAll, expect, test } from "vitest";
import { takingLines } from "../../fixtures/taking-lines.ts";
import type { ConfiguredStream } from "../contract/catalog.ts";
import type { JsonSchema } from "../contract/json.ts";
import type { SyncMode } from "../contract/stream.ts";
import { systemClock } from "../host/clock.ts";
import { openDuckdbOutput } from "./duckdb.ts";

let root: string;
let fileCount = 0;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "svc-duckdb-"));
});
afterAll(() => rm(root, { recursive: true, force: true }));

const newFile = () => join(root, `${fileCount++}.duckdb`);
const options = (streams: ConfiguredStream[] = []) => ({
  connectorId: "conn_test",
  clock: systemClock,
  streams,
});

interface Described {
  readonly name?: string;
  readonly namespace?: string;
  readonly mode?: SyncMode;
  readonly key?: string[];
  readonly fields?: string[];
}

function configured(
  properties: { [name: string]: JsonSchema },
  described: Described = {},
): ConfiguredStream {
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
async function write(
  file: string,
  streams: ConfiguredStream[],
  lines: string[],
): Promise<string[]> {
  const sink = takingLines(await openDuckdbOutput(file, options(streams)), streams);
  try {
    await sink.open(streams);
    for (const { stream } of streams) {
      await sink.status(stream, "started");
      if (lines.length > 0)
        await sink.write(
          stream,
          Buffer.from(lines.map((line) => `${line}\n`).join("")),
          lines.length,
        );
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

test("an incremental read replaces rows of the same key, across runs and within one; the last one counts", async () => {
  const file = newFile();
  const properties = { org: { type: "string" }, id: { type: "integer" }, name: { type: "string" } };
  const stream = configured(properties, { mode: "incremental", key: ["org", "id"] });
  await write(
    file,
    [stream],
    [
      '{"org":"a","id":1,"name":"old"}',
      '{"org":"b","id":1,"name":"other"}',
      '{"org":"a","id":1,"name":"new"}',
    ],
  );
  await write(
    file,
    [stream],
    ['{"org":"b","id":1,"name":"newest"}', '{"org":"b","id":2,"name":"more"}'],
  );
  expect(await query(file, "SELECT org, id, name FROM things ORDER BY org, id")).toEqual([
    ["a", "1", "new"],
    ["b", "1", "newest"],
    ["b", "2", "more"],
  ]);
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
  for (const location of locations)
    expect(await query(file, `SELECT id FROM ${location}`)).toEqual([["1"]]);
  // The names stay with the streams, also when a later run selects one of them only.
  expect(await write(file, streams.slice(1, 2), ['{"id":2}'])).toEqual(locations.slice(1, 2));
});

test("a table that svc did not write is never touched", async () => {
  const file = newFile();
  await query(file, "CREATE TABLE things AS SELECT 42 AS answer");
  await expect(
    write(file, [configured({ id: { type: "integer" } })], ['{"id":1}']),
  ).rejects.toMatchObject({
    code: "TABLE_CONFLICT",
  });
  expect(await query(file, "SELECT answer FROM things")).toEqual([[42]]);
});

test("rows without any checkpoint go to the table in parts, so the stage stays small, and are all there in the end", async () => {
  const file = newFile();
  const stream = configured({ id: { type: "integer" } });
  const sink = takingLines(await openDuckdbOutput(file, options([stream])), [stream]);
  await sink.open([stream]);
  await sink.status(stream.stream, "started");
  for (let page = 0; page < 26; page++) {
    const lines = Array.from(
      { length: 10_000 },
      (_, row) => `{"id":${page * 10_000 + row}}\n`,
    ).join("");
    await sink.write(stream.stream, Buffer.from(lines), 10_000);
  }
  await sink.status(stream.stream, "complete");
  await sink.close();
  expect(await query(file, "SELECT count(*), count(DISTINCT id), max(id) FROM things")).toEqual([
    ["260000", "260000", "259999"],
  ]);
  expect(
    (await readdir(root)).filter((name) => name.startsWith(`${fileCount - 1}.duckdb.`)),
  ).toEqual([]);
});

test.each([
  ["a folder", "it is a folder", async (path: string) => mkdir(path)],
  [
    "not a DuckDB file",
    "not a DuckDB file",
    async (path: string) => writeFile(path, "x".repeat(20_000)),
  ],
])("a path that is %s is told in one sentence", async (_, reason, prepare) => {
  const file = newFile();
  await prepare(file);
  const opening = openDuckdbOutput(file, options());
  await expect(opening).rejects.toMatchObject({
    code: "OUTPUT_FAILED",
    message: expect.stringContaining(reason),
  });
  await expect(opening).rejects.not.toMatchObject({ message: expect.stringContaining(file) });
});

test.skipIf(process.getuid?.() === 0)("a folder without permission is told as that", async () => {
  const folder = join(root, "closed");
  await mkdir(folder);
  await chmod(folder, 0o500);
  await expect(openDuckdbOutput(join(folder, "x.duckdb"), options())).rejects.toMatchObject({
    code: "OUTPUT_FAILED",
    details: { reason: "no permission" },
  });
});
