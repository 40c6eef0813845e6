import { expect, test } from "vitest";
import { columnOf } from "../../fixtures/batches.ts";
import type { Batch, Column } from "../contract/batch.ts";
import { batchRanges, packBatch, packedBytes, packNotes } from "../wire/columns/pack.ts";
import { createBatchInspector } from "./inspect.ts";
import { createLineRenderer } from "./render-lines.ts";

const uuid = Buffer.from("00112233445566778899aabbccddeeff", "hex");
const columns: Column[] = [
  columnOf("id", { kind: "integer", encoding: "int64", isNullable: false, isKey: true }, [
    1n,
    -(2n ** 63n),
    2n ** 53n + 1n,
    -7n,
  ]),
  columnOf("n", { kind: "integer", encoding: "int32" }, [0, -2_147_483_648, null, 2_147_483_647]),
  columnOf("ok", { kind: "boolean", encoding: "bool", isNullable: false }, [
    true,
    false,
    null,
    true,
  ]),
  columnOf("t", { kind: "text", encoding: "utf8" }, ["", 'é "\\\n\u0001', null, "plain"]),
  columnOf("d", { kind: "number", encoding: "float64" }, [0.1, -0, Number.NaN, 1e300]),
  columnOf("m", { kind: "number", encoding: "decimal64", scale: 2 }, [150n, -5n, null, 10n ** 17n]),
  columnOf("w", { kind: "number", encoding: "decimal128", scale: 3 }, [
    10n ** 37n + 1n,
    -1n,
    0n,
    null,
  ]),
  columnOf("x", { kind: "number", encoding: "number" }, ["1.50", "-0.0001", "NaN", "1e400"]),
  columnOf("day", { kind: "date", encoding: "date32" }, [0, -719_162, -719_163, 2_932_896]),
  columnOf("time", { kind: "time", encoding: "time64" }, [0n, 86_400_000_000n, 1_500_000n, null]),
  columnOf("at", { kind: "timestamptz", encoding: "timestamp64" }, [
    -1n,
    253_402_300_799_999_999n,
    2n ** 63n - 1n,
    1_700_000_000_500_000n,
  ]),
  columnOf("local", { kind: "timestamp", encoding: "timestamp64" }, [0n, null, null, null]),
  columnOf("u", { kind: "uuid", encoding: "uuid128" }, [uuid, null, uuid, uuid]),
  columnOf("b", { kind: "binary", encoding: "binary" }, [uuid, Buffer.alloc(0), null, null]),
  columnOf("j", { kind: "json", encoding: "json" }, ['{"a":[1,2.50]}', "12", "34", null]),
];
const batch: Batch = { rowCount: 4, columns, notes: [{ row: 2, fields: ["ok", "j.a"] }] };

function travelled(given: Batch, range = { from: 0, to: given.rowCount }): Batch {
  const notes = packNotes(given.notes, range);
  const payload = Buffer.alloc(packedBytes(given, range, notes.length), 0xff);
  packBatch(given, range, notes, payload);
  return createBatchInspector(given.columns)(payload);
}

const changes = (...fields: string[]) => ({
  changes: fields.map((field) => ({
    field,
    change: "NULLED",
    reason: "SOURCE_SERIALIZATION_ERROR",
  })),
});

test("every encoding arrives as it was sent, and is JSON as people expect it", () => {
  const { lines, nulledCount } = createLineRenderer({ name: "s" }, "rows")(travelled(batch), 0);
  expect(lines.toString().split("\n")).toEqual([
    '{"id":1,"n":0,"ok":true,"t":"","d":0.1,"m":1.50,"w":10000000000000000000000000000000000.001,"x":1.50,"day":"1970-01-01","time":"00:00:00","at":"1969-12-31T23:59:59.999999Z","local":"1970-01-01T00:00:00","u":"00112233-4455-6677-8899-aabbccddeeff","b":"ABEiM0RVZneImaq7zN3u/w==","j":{"a":[1,2.50]}}',
    '{"id":-9223372036854775808,"n":-2147483648,"ok":false,"t":"é \\"\\\\\\n\\u0001","d":-0,"m":-0.05,"w":-0.001,"x":-0.0001,"day":"0001-01-01","time":"24:00:00","at":"9999-12-31T23:59:59.999999Z","local":null,"u":null,"b":"","j":12}',
    `{"id":9007199254740993,"n":null,"ok":null,"t":null,"d":null,"m":null,"w":0.000,"x":null,"day":null,"time":"00:00:01.5","at":null,"local":null,"u":"00112233-4455-6677-8899-aabbccddeeff","b":null,"j":34,"_svc_meta":${JSON.stringify(changes("ok", "j.a", "d", "x", "day", "at"))}}`,
    '{"id":-7,"n":2147483647,"ok":true,"t":"plain","d":1e+300,"m":1000000000000000.00,"w":null,"x":1e400,"day":"9999-12-31","time":null,"at":"2023-11-14T22:13:20.5Z","local":null,"u":"00112233-4455-6677-8899-aabbccddeeff","b":null,"j":null}',
    "",
  ]);
  expect(nulledCount).toBe(4);
});

test("as an Airbyte message a row has its envelope, and what it lost stands in its meta", () => {
  const few = { ...batch, columns: columns.slice(0, 3) };
  const render = createLineRenderer({ name: "s", namespace: "n" }, "airbyte");
  const lines = render(travelled(few), 5).lines.toString().trim().split("\n");
  expect(lines.map((line) => JSON.parse(line).record)).toMatchObject([
    { stream: "s", namespace: "n", data: { id: 1, n: 0, ok: true }, emitted_at: 5 },
    { data: { n: -2147483648, ok: false } },
    { data: { n: null, ok: null }, meta: changes("ok", "j.a") },
    { data: { id: -7 } },
  ]);
});

test("a property that is null although its schema has no null is left out", () => {
  const column = columnOf("a", { kind: "text", encoding: "utf8", isNullable: false }, [null, "x"]);
  const rows = { rowCount: 2, columns: [column], notes: [] };
  expect(createLineRenderer({ name: "s" }, "rows")(travelled(rows), 0).lines.toString()).toBe(
    '{}\n{"a":"x"}\n',
  );
});

test("a large batch is cut between rows, and no row is lost", () => {
  const count = 20_000;
  const text = (row: number) => (row % 3 === 0 ? null : "x".repeat(row % 400));
  const large: Batch = {
    rowCount: count,
    columns: [
      columnOf(
        "id",
        { kind: "integer", encoding: "int32", isKey: true },
        Array.from({ length: count }, (_, row) => row),
      ),
      columnOf(
        "t",
        { kind: "text", encoding: "utf8" },
        Array.from({ length: count }, (_, row) => text(row)),
      ),
    ],
    notes: [{ row: 19_999, fields: ["t"] }],
  };
  const ranges = [...batchRanges(large)];
  expect(ranges.length).toBeGreaterThan(3);
  const render = createLineRenderer({ name: "s" }, "rows");
  const rows = ranges.flatMap((range) =>
    render(travelled(large, range), 0)
      .lines.toString()
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line)),
  );
  expect(rows.length).toBe(count);
  expect(rows.every(({ id, t }, row) => id === row && t === text(row))).toBe(true);
  expect(rows[19_999]._svc_meta).toEqual(changes("t"));
});

test("rows of which each has lost much are cut so that their notes are within their budget", () => {
  const count = 8_192;
  const fields = Array.from({ length: 20 }, (_, index) => `${"ä".repeat(30)}${index}`);
  const lossy: Batch = {
    rowCount: count,
    columns: [
      columnOf(
        "n",
        { kind: "integer", encoding: "int32" },
        Array.from({ length: count }, (_, row) => row),
      ),
    ],
    notes: Array.from({ length: count }, (_, row) => ({ row, fields })),
  };
  const arrived = [...batchRanges(lossy)].map((range) => travelled(lossy, range));
  expect(arrived.reduce((sum, { rowCount }) => sum + rowCount, 0)).toBe(count);
  expect(arrived.flatMap(({ notes }) => notes).every((note) => note.fields.length === 20)).toBe(
    true,
  );
});

test("rows of some MiB make frames of their own, whatever row they begin at", () => {
  const sizes = [1, 3, 3, 0, 3, 3, 3, 3, 3, 1, 3, 3, 0, 3].map((size) => size * 500_000);
  const big: Batch = {
    rowCount: sizes.length,
    columns: [
      columnOf(
        "t",
        { kind: "text", encoding: "utf8" },
        sizes.map((size) => (size === 0 ? null : "x".repeat(size))),
      ),
    ],
    notes: [{ row: 12, fields: ["t"] }],
  };
  const ranges = [...batchRanges(big)];
  const render = createLineRenderer({ name: "s" }, "rows");
  const rows = ranges.flatMap((range) => {
    const notes = packNotes(big.notes, range);
    const isAlone = range.to - range.from === 1;
    expect(isAlone || packedBytes(big, range, notes.length) <= 2 ** 20).toBe(true);
    const lines = render(travelled(big, range), 0).lines.toString().trim().split("\n");
    return lines.map((line) => JSON.parse(line));
  });
  expect(rows.map(({ t }) => t?.length ?? 0)).toEqual(sizes);
  expect(rows.map(({ _svc_meta: meta }) => meta)).toEqual(
    sizes.map((_, row) => (row === 12 ? changes("t") : undefined)),
  );
});
