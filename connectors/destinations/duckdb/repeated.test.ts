/**
 * Rows that the table has as they come, of every type: found with one query, and no other row is.
 */
import { DuckDBConnection } from "@duckdb/node-api";
import type { Batch } from "svc-connectors/destination";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { type ColumnOptions, columnOf } from "../../../fixtures/batches.ts";
import { describeStream } from "../../../tests/destination-behaviour.ts";
import { openDuckdbPlace } from "../../../tests/duckdb-place.ts";

let place: Awaited<ReturnType<typeof openDuckdbPlace>>;
beforeAll(async () => {
  place = await openDuckdbPlace({ now: () => 1_700_000_000_000, sleep: async () => {} });
});
afterAll(() => place.close());
afterEach(() => vi.restoreAllMocks());

type Value = Parameters<typeof columnOf>[2][number];

interface Cells {
  readonly id: Value;
  readonly at: Value;
  readonly value: Value;
}

interface Typed {
  readonly schema: object;
  readonly options: ColumnOptions;
}

const whole: Typed = {
  schema: { type: "integer" },
  options: { kind: "integer", encoding: "int64" },
};
const text: Typed = { schema: { type: "string" }, options: { kind: "text", encoding: "utf8" } };

/** One run of a stream, whose state stays the same. Gives the first words of its statements. */
async function run(
  name: string,
  rows: readonly Cells[],
  types: { readonly id?: Typed; readonly value?: Typed } = {},
): Promise<(string | undefined)[]> {
  const { id = whole, value = text } = types;
  const properties = {
    id: id.schema,
    at: { type: "integer" },
    value: { ...value.schema, nullable: true },
  };
  const described = { name, into: "append_dedup", key: ["id"], cursor: "at" } as const;
  const stream = describeStream(properties, described);
  const sink = await place.write({ owner: name, jobId: "job", fence: 1, streams: [stream] });
  const ran = vi.spyOn(DuckDBConnection.prototype, "run");
  const columns: Batch["columns"] = [
    columnOf(
      "id",
      { ...id.options, isKey: true },
      rows.map((row) => row.id),
    ),
    columnOf(
      "at",
      whole.options,
      rows.map((row) => row.at),
    ),
    columnOf(
      "value",
      value.options,
      rows.map((row) => row.value),
    ),
  ];
  await sink.status({ name }, "started");
  await sink.writeBatch?.({ name }, { rowCount: rows.length, columns, notes: [] });
  await sink.checkpoint({ name }, { at: 1 }, rows.length);
  await sink.status({ name }, "complete");
  const statements = ran.mock.calls.map(([sql]) => sql.trim().split(" ")[0]);
  ran.mockRestore();
  await sink.close();
  return statements;
}

const oneQuery = ["SELECT"];
const valuesIn = async (name: string) =>
  (await place.sql(`SELECT value::VARCHAR FROM "_svc_${name}" ORDER BY id`)).map(([one]) => one);

const bytes = (...values: number[]) => Uint8Array.from({ length: 16 }, (_, at) => values[at] ?? 0);
const number = { type: "number" };
const kinds: Readonly<Record<string, [Typed, Value, Value]>> = {
  text: [text, "a", "b"],
  "a text of many bytes": [text, "a".repeat(50), `${"a".repeat(49)}b`],
  "an empty text": [text, "", "null"],
  boolean: [
    { schema: { type: "boolean" }, options: { kind: "boolean", encoding: "bool" } },
    true,
    false,
  ],
  "an integer of 32 bits": [
    { schema: { type: "integer" }, options: { kind: "integer", encoding: "int32" } },
    7,
    -7,
  ],
  "an integer of 64 bits": [whole, 2n ** 62n, 2n ** 62n + 1n],
  double: [{ schema: number, options: { kind: "number", encoding: "float64" } }, 1 / 3, 2 / 3],
  "no number": [{ schema: number, options: { kind: "number", encoding: "float64" } }, NaN, 0],
  "an integer of 16 bits": [
    {
      schema: { type: "integer", format: "int16" },
      options: { kind: "integer", encoding: "int32" },
    },
    7,
    8,
  ],
  "a narrow decimal": [
    {
      schema: { type: "number", airbyte_type: "big_number", precision: 5, scale: 2 },
      options: { kind: "number", encoding: "decimal64", scale: 2 },
    },
    150n,
    151n,
  ],
  "a wide decimal": [
    {
      schema: { type: "number", airbyte_type: "big_number", precision: 38, scale: 10 },
      options: { kind: "number", encoding: "decimal128", scale: 10 },
    },
    2n ** 100n,
    2n ** 100n + 1n,
  ],
  bytes: [
    {
      schema: { type: "string", contentEncoding: "base64" },
      options: { kind: "binary", encoding: "binary" },
    },
    bytes(1, 0, 2),
    bytes(1, 2, 0),
  ],
  time: [
    {
      schema: { type: "string", airbyte_type: "time_without_timezone" },
      options: { kind: "time", encoding: "time64" },
    },
    1_000_000n,
    1_000_001n,
  ],
  interval: [
    {
      schema: { type: "string", native_type: { postgresql: "interval" } },
      options: { kind: "text", encoding: "utf8" },
    },
    "P1M",
    "P30D",
  ],
  date: [
    {
      schema: { type: "string", format: "date" },
      options: { kind: "date", encoding: "date32" },
    },
    20_000,
    20_001,
  ],
  "an instant": [
    {
      schema: { type: "string", format: "date-time" },
      options: { kind: "timestamptz", encoding: "timestamp64" },
    },
    1_700_000_000_000_000n,
    1_700_000_000_000_001n,
  ],
  uuid: [
    {
      schema: { type: "string", format: "uuid" },
      options: { kind: "uuid", encoding: "uuid128" },
    },
    bytes(1),
    bytes(1, 1),
  ],
  json: [
    { schema: { type: "object" }, options: { kind: "json", encoding: "json" } },
    '{"a":1}',
    '{"a":2}',
  ],
};

test.each(
  Object.entries(kinds),
)("%s: the same row is left alone, and another value or none is written", async (kind, [
  value,
  one,
  other,
]) => {
  const name = kind.replaceAll(" ", "_");
  const types = { value };
  const row = { id: 1, at: 10, value: one };
  await run(name, [{ id: 1, at: 10, value: null }], types);
  expect(await run(name, [{ id: 1, at: 10, value: null }], types)).toEqual(oneQuery);
  expect(await run(name, [row], types)).toContain("INSERT");
  const [written] = await valuesIn(name);
  expect(written).not.toBeNull();
  expect(await run(name, [row], types)).toEqual(oneQuery);
  expect(await run(name, [{ ...row, value: other }], types)).toContain("INSERT");
  expect(await valuesIn(name)).not.toEqual([written]);
});

test.each<[string, Typed, Value]>([
  ["text", text, "it's ; -- a key"],
  ["uuid", kinds.uuid?.[0] ?? text, bytes(9, 8, 7)],
  ["integer", whole, -5n],
])("a key of %s is found", async (kind, id, value) => {
  const row = { id: value, at: 1, value: "a" };
  await run(`key_${kind}`, [row], { id });
  expect(await run(`key_${kind}`, [row], { id })).toEqual(oneQuery);
});

test("one row of many is new: it is written, and so it is where there are too many to ask for", async () => {
  const rows = (count: number) =>
    Array.from({ length: count }, (_, id) => ({ id, at: 1, value: `row ${id}` }));
  await run("many", rows(64));
  expect(await run("many", rows(64))).toEqual(oneQuery);
  expect(await run("many", rows(65))).toContain("INSERT");
  expect(await valuesIn("many")).toHaveLength(65);
  expect(await run("many", rows(65))).not.toContain("INSERT");
});

test("a row that the table lost comes back, and one of another key's values is not it", async () => {
  await run("lost", [
    { id: 1, at: 1, value: "a" },
    { id: 2, at: 1, value: "b" },
  ]);
  expect(
    await run("lost", [
      { id: 1, at: 1, value: "b" },
      { id: 2, at: 1, value: "b" },
    ]),
  ).toContain("INSERT");
  expect(await valuesIn("lost")).toEqual(["b", "b"]);
  await place.sql('DELETE FROM "_svc_lost" WHERE id = 2');
  await run("lost", [{ id: 2, at: 1, value: "b" }]);
  expect(await valuesIn("lost")).toEqual(["b", "b"]);
});

test("a column that the table has as text is compared by the merge", async () => {
  await run("widened", [{ id: "x", at: 1, value: "a" }], { id: text });
  await run("widened", [{ id: 2n, at: 1, value: "b" }], { id: whole });
  expect(await valuesIn("widened")).toEqual(["b", "a"]);
});
