import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { RecordBatchReader, tableFromIPC } from "apache-arrow";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { columnOf } from "../../fixtures/batches.ts";
import { syncsOf } from "../../fixtures/syncs.ts";
import { takingLines } from "../../fixtures/taking-lines.ts";
import type { ConfiguredStream } from "../contract/catalog.ts";
import type { SyncMode } from "../contract/stream.ts";
import { systemClock } from "../host/clock.ts";
import { openTableFiles, type TableFormat, tableFormats } from "./table-files.ts";

let root: string;
let folderCount = 0;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "svc-table-files-"));
});
afterAll(() => rm(root, { recursive: true, force: true }));
const newFolder = () => join(root, String(folderCount++));

const things = (mode: SyncMode): ConfiguredStream => ({
  stream: {
    name: "things",
    json_schema: {
      type: "object",
      properties: {
        id: { type: "integer" },
        at: { type: ["string", "null"], format: "date-time" },
        price: { type: "number", airbyte_type: "big_number", precision: 12, scale: 2 },
      },
    },
    supported_sync_modes: ["full_refresh", "incremental"],
    source_defined_cursor: true,
    default_cursor_field: ["id"],
    source_defined_primary_key: [["id"]],
    is_resumable: false,
  },
  sync_mode: mode,
});
const stream = { name: "things" };

/** The ids in the file, in its order. */
async function idsIn(folder: string, format: TableFormat): Promise<number[]> {
  const file = join(folder, `things.${format}`);
  if (format === "parquet") return (await query(`SELECT id FROM '${file}'`)).flat().map(Number);
  return [...(tableFromIPC(await readFile(file)).getChild("id") ?? [])].map(Number);
}

async function query(sql: string): Promise<unknown[][]> {
  const instance = await DuckDBInstance.create();
  const connection = await instance.connect();
  const rows = (await connection.runAndReadAll(sql)).getRowsJson();
  connection.closeSync();
  instance.closeSync();
  return rows;
}
async function open(folder: string, format: TableFormat, mode: SyncMode) {
  const configured = things(mode);
  const sink = await openTableFiles(folder, format, {
    connectorId: "conn_test",
    clock: systemClock,
    streams: [configured],
  });
  await sink.status(stream, "started");
  const put = async (...ids: number[]) => {
    const lines = ids.map((id) => `{"id":${id},"at":"2024-01-01T00:00:00Z","price":${id}.50}\n`);
    await takingLines(sink, [configured]).write(stream, Buffer.from(lines.join("")), ids.length);
  };
  return { sink, put };
}

async function run(
  folder: string,
  format: TableFormat,
  mode: SyncMode,
  ...ids: number[]
): Promise<void> {
  const { sink, put } = await open(folder, format, mode);
  await put(...ids);
  await sink.checkpoint(stream, { ids }, ids.length);
  await sink.status(stream, "complete");
  await sink.close();
}

test("a Parquet file is one that others read, with the types of its schema", async () => {
  const folder = newFolder();
  await run(folder, "parquet", "full_refresh", 1, 2);
  expect(await query(`SELECT id, "at", price FROM '${folder}/things.parquet' ORDER BY id`)).toEqual(
    [
      ["1", expect.stringMatching(/^2024-01-01 00:00:00/), "1.50"],
      ["2", expect.stringMatching(/^2024-01-01 00:00:00/), "2.50"],
    ],
  );
  const types = await query(
    `SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM '${folder}/things.parquet')`,
  );
  expect(Object.fromEntries(types)).toMatchObject({
    id: "BIGINT",
    at: "TIMESTAMP WITH TIME ZONE",
    price: "DECIMAL(12,2)",
  });
  expect((await readdir(folder)).sort()).toEqual([".svc.duckdb", "things.parquet"]);
});

test("an Arrow file has the types of the schema, and can be read from front to back", async () => {
  const folder = newFolder();
  await run(folder, "arrow", "full_refresh", 1, 2);
  const bytes = await readFile(join(folder, "things.arrow"));
  const table = tableFromIPC(bytes);
  const types = table.schema.fields.map(({ name, type }) => [name, String(type)]);
  expect(Object.fromEntries(types)).toMatchObject({
    id: "Int64",
    at: "Timestamp<MICROSECOND, UTC>",
    price: "Decimal[12e+2]",
    _svc_id: "FixedSizeBinary[16]",
    _svc_meta: "Utf8",
  });
  const extensions = table.schema.fields.map(({ name, metadata }) => [
    name,
    metadata.get("ARROW:extension:name"),
  ]);
  expect(Object.fromEntries(extensions)).toMatchObject({
    _svc_id: "arrow.uuid",
    _svc_meta: "arrow.json",
  });
  expect((await readdir(folder)).sort()).toEqual([".svc.duckdb", "things.arrow"]);
  // Behind its first eight bytes a file is a stream.
  const batches = [...RecordBatchReader.from(bytes.subarray(8))];
  expect(batches.map(({ numRows }) => numRows)).toEqual([2]);
});

describe.each(tableFormats)("%s files", (format) => {
  test.skipIf(process.platform !== "linux")(
    "a file and its name are on the disk when it is told of",
    async () => {
      const folder = newFolder();
      const path = join(folder, `things.${format}`);
      const syncs = await syncsOf(path, () => run(folder, format, "full_refresh", 1));
      expect(syncs).toContainEqual([expect.stringMatching(new RegExp(`\\.${format}$`)), false]);
      expect(syncs.at(-1)).toEqual([folder, true]);
    },
  );

  test("a full refresh replaces the file when it is complete, and not before", async () => {
    const folder = newFolder();
    await run(folder, format, "full_refresh", 1, 2);
    const before = await readFile(join(folder, `things.${format}`));
    const { sink, put } = await open(folder, format, "full_refresh");
    await put(3);
    await sink.status(stream, "incomplete");
    await sink.close();
    expect(await readFile(join(folder, `things.${format}`))).toEqual(before);
    await run(folder, format, "full_refresh", 4);
    expect(await idsIn(folder, format)).toEqual([4]);
    await run(folder, format, "full_refresh");
    expect(await idsIn(folder, format)).toEqual([]);
  });

  test("an incremental read adds its rows, a row that comes again is there once", async () => {
    const folder = newFolder();
    await run(folder, format, "incremental", 1, 2);
    await run(folder, format, "incremental", 2, 3);
    expect(await idsIn(folder, format)).toEqual([1, 2, 3]);
  });

  test("rows that a killed run committed and did not write are in the file after the next one", async () => {
    const folder = newFolder();
    await run(folder, format, "incremental", 1);
    const file = join(folder, `things.${format}`);
    const old = await readFile(file);
    await run(folder, format, "incremental", 2);
    // As if it had been killed before the last step.
    await writeFile(file, old);
    await writeFile(join(folder, `.things.${format}.behind`), "");
    await run(folder, format, "incremental");
    expect(await idsIn(folder, format)).toEqual([1, 2]);
  });

  test("batches arrive as rows do", async () => {
    const folder = newFolder();
    const { sink } = await open(folder, format, "full_refresh");
    const columns = [
      columnOf("id", { kind: "integer", encoding: "int64", isNullable: false }, [7n]),
      columnOf("at", { kind: "timestamptz", encoding: "timestamp64" }, [null]),
      columnOf("price", { kind: "number", encoding: "decimal64", scale: 2 }, [150n]),
    ];
    await sink.writeBatch?.(stream, { rowCount: 1, columns, notes: [] });
    await sink.status(stream, "complete");
    await sink.close();
    if (sink.writeBatch) expect(await idsIn(folder, format)).toEqual([7]);
    expect((await stat(join(folder, `things.${format}`))).size).toBeGreaterThan(0);
  });
});
