/** Rows of authors as batches: what their columns are, and when a batch is full. */
import { expect, test } from "vitest";
import { fieldsOf } from "../../../fixtures/written-rows.ts";
import type { Row } from "../../contract/output.ts";
import { rawJson } from "../../wire/exact-json.ts";
import { compileRecordWriter, type RecordStream } from "./writer.ts";

const streamOf = (
  properties: Record<string, unknown>,
  options: Partial<RecordStream> = {},
): RecordStream => ({ name: "s", schema: { type: "object", properties }, ...options });
const writerOf = (stream: RecordStream) => compileRecordWriter(stream, fieldsOf(stream));

/** The sizes of the batches that rows become. */
function batchSizes(stream: RecordStream, rows: readonly Row[]): number[] {
  const writer = writerOf(stream);
  const sizes: number[] = [];
  for (let from = 0; from < rows.length; ) {
    from = writer.add(rows, from);
    sizes.push(writer.take().rowCount);
  }
  return sizes;
}

function encodingOf(schema: object, ...values: unknown[]): string | undefined {
  const writer = writerOf(streamOf({ v: schema }));
  writer.add(
    values.map((v) => ({ v })),
    0,
  );
  return writer.take().columns[0]?.encoding;
}

test("integers are 64 bits wide, and texts in the batch that has one beyond", () => {
  const schema = { type: "integer" };
  const [least, most] = [-(2n ** 63n), 2n ** 63n - 1n];
  expect(encodingOf(schema, 1, -1, 2 ** 53 - 1, -(2 ** 53 - 1), least, most)).toBe("int64");
  for (const value of [most + 1n, least - 1n, 1e21, -0, rawJson("1.0")])
    expect(encodingOf(schema, 1, value)).toBe("number");
});

test("64-bit integers keep every bit", () => {
  const values = [0, 1, -1, 2 ** 31, -(2 ** 31) - 1, 2 ** 53 - 1, -(2 ** 53 - 1), -(2n ** 63n), 5n];
  const writer = writerOf(streamOf({ v: { type: "integer" } }));
  writer.add(
    values.map((v) => ({ v })),
    0,
  );
  const [column] = writer.take().columns;
  expect(column?.encoding === "int64" && [...column.values]).toEqual(values.map(BigInt));
});

test("numbers are doubles, and texts in the batch that has one which a double cannot hold", () => {
  expect(encodingOf({ type: "number" }, 0.1, -0, 1e300, 5n, rawJson("0.5"))).toBe("float64");
  expect(encodingOf({ type: "number" }, 0.1, rawJson("0.10"))).toBe("number");
  expect(encodingOf({ type: "number" }, 2n ** 60n)).toBe("number");
});

test("times and the like stay texts as the provider writes them", () => {
  const schema = { type: "string", format: "date-time" };
  expect(encodingOf(schema, "2024-01-01 00:00:00+01")).toBe("utf8");
  expect(encodingOf({ type: "string", contentEncoding: "base64" }, "AAEC")).toBe("utf8");
});

test("the batch after one with nulls and long numbers has none of them", () => {
  const writer = writerOf(streamOf({ n: { type: "integer" }, t: { type: "string" } }));
  writer.add([{ n: 2n ** 70n, t: "é" }, { n: null }, {}], 0);
  expect(writer.take().columns.map(({ validity }) => validity?.[0])).toMatchObject([249, 249]);
  writer.add([{ n: 1, t: "ab" }], 0);
  const { rowCount, columns, notes } = writer.take();
  expect({ rowCount, notes }).toEqual({ rowCount: 1, notes: [] });
  expect(columns).toMatchObject([
    { encoding: "int64", validity: undefined },
    { encoding: "utf8", validity: undefined },
  ]);
});

test("rows before one that fails stand, and nothing of that one", () => {
  const properties = { a: { type: "string" }, b: { type: "integer" }, id: { type: "integer" } };
  const writer = writerOf(streamOf(properties, { primaryKey: ["id"] }));
  const rows = [
    { id: 1, a: "x" },
    { a: "lost", b: 2n ** 70n },
  ];
  expect(() => writer.add(rows, 0)).toThrowError(
    expect.objectContaining({ code: "RECORD_INVALID" }),
  );
  writer.add([{ id: 2, a: "y", b: 5 }], 0);
  const { rowCount, columns } = writer.take();
  expect(rowCount).toBe(2);
  const [a, b, id] = columns;
  expect(a?.encoding === "utf8" && [Buffer.from(a.bytes).toString(), ...a.offsets]).toEqual([
    "xy",
    0,
    1,
    2,
  ]);
  expect(b?.encoding === "int64" && [...b.values]).toEqual([0n, 5n]);
  expect(id?.encoding === "int64" && [...id.values]).toEqual([1n, 2n]);
});

test("a batch ends at so many characters, rows, columns or names in notes; no row is lost", () => {
  const texts = { t: { type: "string" } };
  const rowsOf = (count: number, row: Row) => Array.from({ length: count }, () => row);
  const sum = (sizes: readonly number[]) => sizes.reduce((total, size) => total + size, 0);
  const long = batchSizes(streamOf(texts), rowsOf(50, { t: "x".repeat(50_000) }));
  expect([sum(long), Math.max(...long)]).toEqual([50, 3]);
  const short = batchSizes(streamOf(texts), rowsOf(5_000, { t: "" }));
  expect(short).toEqual([2_048, 2_048, 904]);
  const wide = Object.fromEntries(
    Array.from({ length: 2_000 }, (_, index) => [`c${index}`, { type: "integer" }]),
  );
  const wideSizes = batchSizes(streamOf(wide), rowsOf(100, { c0: 1 }));
  expect([sum(wideSizes), Math.max(...wideSizes)]).toEqual([100, 32]);
  const name = "n".repeat(3_000);
  const noted = batchSizes(streamOf({ [name]: { type: "string" } }), rowsOf(600, { [name]: 1 }));
  expect([sum(noted), Math.max(...noted)]).toEqual([600, 263]);
});
