/** Batches of any encoding, as they are sent and with any of their bytes changed. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { payloadOf } from "../../fixtures/batch-payloads.ts";
import { type ColumnOptions, columnOf } from "../../fixtures/batches.ts";
import { choose } from "../../tests/effort.ts";
import { type Batch, type Column, endlessDay, endlessInstant } from "../contract/batch.ts";
import { ConnectorError } from "../contract/errors.ts";
import { batchRanges } from "../wire/columns/pack.ts";
import { createBatchInspector } from "./inspect.ts";
import { createLineRenderer } from "./render-lines.ts";

type Value = number | bigint | boolean | string | Uint8Array;
const bigint = (most: bigint) => fc.bigInt({ min: -most, max: most });
const text = fc.string({ unit: "binary" }).map((one) => one.toWellFormed());
const encodings: readonly (readonly [ColumnOptions, fc.Arbitrary<Value>])[] = [
  [{ kind: "boolean", encoding: "bool" }, fc.boolean()],
  [{ kind: "integer", encoding: "int32" }, fc.integer()],
  [{ kind: "integer", encoding: "int64" }, fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })],
  [{ kind: "number", encoding: "float64" }, fc.double()],
  [{ kind: "number", encoding: "decimal64", scale: 18 }, bigint(10n ** 18n - 1n)],
  [{ kind: "number", encoding: "decimal128", scale: 38 }, bigint(10n ** 38n - 1n)],
  [
    { kind: "date", encoding: "date32" },
    fc.oneof(fc.integer({ min: -2_440_588, max: 2_145_042_905 }), fc.constant(endlessDay)),
  ],
  [{ kind: "time", encoding: "time64" }, fc.bigInt({ min: 0n, max: 86_400_000_000n })],
  [
    { kind: "timestamptz", encoding: "timestamp64" },
    fc.bigInt({ min: -210_866_803_200_000_000n, max: endlessInstant }),
  ],
  [{ kind: "uuid", encoding: "uuid128" }, fc.uint8Array({ minLength: 16, maxLength: 16 })],
  [{ kind: "text", encoding: "utf8" }, text],
  [{ kind: "binary", encoding: "binary" }, fc.uint8Array()],
  [{ kind: "json", encoding: "json" }, fc.jsonValue().map((one) => JSON.stringify(one))],
  [
    { kind: "number", encoding: "number" },
    fc.oneof(
      fc.constantFrom("NaN", "Infinity", "-Infinity", "1e400", "-0.00"),
      fc.bigInt().map(String),
    ),
  ],
];

const columns = (rowCount: number) =>
  fc.array(
    fc.constantFrom(...encodings).chain(([options, value]) =>
      fc.record({
        options: fc.constant(options),
        isKey: fc.boolean(),
        values: fc.array(fc.oneof({ weight: 4, arbitrary: value }, fc.constant(null)), {
          minLength: rowCount,
          maxLength: rowCount,
        }),
      }),
    ),
    { maxLength: 6 },
  );
const batches = fc.integer({ min: 0, max: 40 }).chain((rowCount) =>
  fc
    .record({
      columns: columns(rowCount),
      notes: fc.uniqueArray(fc.integer({ min: 0, max: Math.max(0, rowCount - 1) }), {
        maxLength: rowCount,
      }),
      field: text,
    })
    .map(
      (made): Batch => ({
        rowCount,
        columns: made.columns.map(({ options, isKey, values }, index) =>
          columnOf(`c${index}`, { ...options, isKey: isKey && !values.includes(null) }, values),
        ),
        notes: made.notes
          .toSorted((a, b) => a - b)
          .map((row) => ({ row, fields: [made.field, "c0"] })),
      }),
    ),
);

/** A batch by the contents of its columns, whatever memory they lie in. */
const contents = ({ columns: given, ...batch }: Batch) => ({
  ...batch,
  columns: given.map((column: Column) => ({
    ...column,
    validity: column.validity && [...column.validity],
    ...("offsets" in column
      ? { offsets: [...column.offsets], bytes: Buffer.from(column.bytes).toString("hex") }
      : { values: [...column.values].map((value) => (Object.is(value, -0) ? "-0" : value)) }),
  })),
});

test("a batch arrives as it was sent, whatever its columns", () => {
  fc.assert(
    fc.property(batches, (batch) => {
      const arrived = createBatchInspector(batch.columns)(payloadOf(batch));
      expect(contents(arrived)).toEqual(contents(batch));
    }),
    { numRuns: choose({ quick: 200, whole: 2_000 }) },
  );
});

test("a batch in ranges is the rows of the whole", () => {
  const render = createLineRenderer({ name: "s" }, "rows");
  const rowsOf = (batch: Batch) => render(batch, 0).lines.toString();
  fc.assert(
    fc.property(batches, (batch) => {
      const inspect = createBatchInspector(batch.columns);
      const whole = rowsOf(batch);
      const cuts = [...batchRanges(batch), ...[8, 16, 24].map((at) => ({ from: at, to: at + 8 }))];
      const lines = whole.split("\n");
      for (const { from, to } of cuts.filter((range) => range.to <= batch.rowCount)) {
        const part = rowsOf(inspect(payloadOf(batch, { from, to })));
        expect(part).toBe(
          lines
            .slice(from, to)
            .map((line) => `${line}\n`)
            .join(""),
        );
      }
    }),
    { numRuns: choose({ quick: 100, whole: 1_000 }) },
  );
});

test("with any bytes changed, left out or put in, it is refused or a batch whose rows are rows", () => {
  const change = fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
    bytes: fc.oneof(
      { weight: 6, arbitrary: fc.uint8Array({ minLength: 1, maxLength: 1 }) },
      fc.uint8Array({ minLength: 1, maxLength: 8 }),
      fc.constantFrom([0, 0, 0, 0x80], [0xff, 0xff, 0xff, 0xff], [0xf8, 0xff, 0xff, 0xff], [0]),
    ),
    how: fc.constantFrom(...Array<"over">(8).fill("over"), "in", "out"),
    isInHead: fc.nat(4).map((one) => one === 0),
  });
  let refused = 0;
  let taken = 0;
  fc.assert(
    fc.property(batches, fc.array(change, { minLength: 1, maxLength: 2 }), (batch, changes) => {
      let payload = payloadOf(batch);
      for (const { at, bytes, how, isInHead } of changes) {
        const range = isInHead
          ? Math.min(payload.length, 16 + 8 * batch.columns.length)
          : payload.length;
        const place = Math.floor(at * range);
        const put = how === "out" ? [] : bytes;
        const end = how === "in" ? place : place + bytes.length;
        const parts = [payload.subarray(0, place), Buffer.from(put), payload.subarray(end)];
        payload = Buffer.concat(parts);
      }
      let forged: Batch;
      try {
        forged = createBatchInspector(batch.columns)(payload);
      } catch (error) {
        expect(error).toBeInstanceOf(ConnectorError);
        expect((error as ConnectorError).code).toBe("CONNECTOR_PROTOCOL");
        refused++;
        return;
      }
      taken++;
      const { lines } = createLineRenderer({ name: "s" }, "rows")(forged, 0);
      const rows = lines.toString().split("\n").slice(0, -1);
      expect(rows.length).toBe(forged.rowCount);
      for (const row of rows) expect(JSON.parse(row)).toBeTypeOf("object");
    }),
    { numRuns: choose({ quick: 500, whole: 10_000 }) },
  );
  expect(Math.min(refused, taken)).toBeGreaterThan(20);
});
