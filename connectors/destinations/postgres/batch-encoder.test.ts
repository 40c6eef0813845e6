import fc from "fast-check";
import type { Batch, BatchColumn } from "svc-connectors/destination";
import { afterEach, expect, test, vi } from "vitest";
import { type ColumnOptions, columnOf, kindsAndEncodings } from "../../../fixtures/batches.ts";
import { createBatchEncoder } from "./batch-encoder.ts";
import { createRowIds } from "./row-ids.ts";
import { type ColumnType, columnTypes } from "./types.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

type Value = number | bigint | boolean | string | Uint8Array | null;

interface Field {
  readonly options: ColumnOptions;
  readonly type: ColumnType;
  readonly values: readonly Value[];
}

function encode(
  fields: readonly Field[],
  { notes = [], hasNumericInfinity = true }: Partial<Pick<Batch, "notes">> & Server = {},
) {
  const columns = fields.map(({ type }, index) => ({
    property: `c${index}`,
    name: `c${index}`,
    type,
  }));
  const encoder = createBatchEncoder({
    columns,
    jobId: "job\0",
    ids: createRowIds(1_700_000_000_000),
    server: { hasNumericInfinity },
  });
  const batch: Batch = {
    rowCount: fields[0]?.values.length ?? 0,
    columns: fields.map(
      ({ options, values }, index): BatchColumn => columnOf(`c${index}`, options, values),
    ),
    notes,
  };
  return encoder.encode(batch, Date.UTC(2000, 0, 1) + 5_000);
}

interface Server {
  readonly hasNumericInfinity?: boolean;
}

/**
 * The fields of each row, as the server reads them; none is cut off, and nothing is left over.
 * @see https://www.postgresql.org/docs/current/sql-copy.html (binary format)
 */
function rowsOf(bytes: Buffer): (Buffer | null)[][] {
  const rows: (Buffer | null)[][] = [];
  let at = 0;
  while (at < bytes.length) {
    const count = bytes.readInt16BE(at);
    at += 2;
    const row: (Buffer | null)[] = [];
    for (let field = 0; field < count; field++) {
      const length = bytes.readInt32BE(at);
      at += 4;
      if (length === -1) row.push(null);
      else {
        if (at + length > bytes.length) throw new Error("a value is cut off");
        row.push(bytes.subarray(at, at + length));
        at += length;
      }
    }
    rows.push(row);
  }
  return rows;
}

const metaOf = (row: readonly (Buffer | null)[] | undefined) => {
  const meta = row?.at(-1);
  return meta ? (JSON.parse(meta.subarray(1).toString()) as unknown) : null;
};

/** The bytes of values whose types have one length. */
const widths: Partial<Record<ColumnType, number>> = {
  boolean: 1,
  smallint: 2,
  integer: 4,
  bigint: 8,
  "double precision": 8,
  "timestamp with time zone": 8,
  "timestamp without time zone": 8,
  date: 4,
  "time without time zone": 8,
  uuid: 16,
};

const bits = (count: number) =>
  fc.bigInt({ min: -(2n ** BigInt(count - 1)) + 1n, max: 2n ** BigInt(count - 1) - 1n });
const small = <Arbitrary>(...arbitraries: fc.Arbitrary<Arbitrary>[]) => fc.oneof(...arbitraries);
const digits = (max: number) => fc.stringMatching(new RegExp(`^(0|[1-9]\\d{0,${max}})$`));
const power = small(
  fc.constant(""),
  fc.integer({ min: -5_001, max: 5_001 }).map((value) => `e${value}`),
  fc.constantFrom("E+5000", "e-5000", "e00012", "e99999999999999999999"),
);
const numbers = small(
  fc
    .tuple(
      fc.constantFrom("", "-"),
      digits(45),
      small(fc.constant(""), fc.stringMatching(/^\.\d{1,45}$/)),
      power,
    )
    .map((parts) => parts.join("")),
  fc.constantFrom("NaN", "Infinity", "-Infinity", "9".repeat(10_000), `0.${"0".repeat(9_998)}`),
);
const text = small<string>(
  fc.string({ unit: "binary" }).map((value) => value.toWellFormed()),
  fc.integer({ min: 0, max: 300 }).map((count) => "\0".repeat(count)),
  fc.string({ unit: fc.constantFrom("a", "\0", "é", "😀", '"', "\\"), maxLength: 120 }),
  fc.constantFrom(
    "2024-02-29",
    "infinity",
    "12:34:56.5",
    "2024-02-29T12:00:00Z",
    "QUJD",
    "0044-03-15 BC",
  ),
  fc.uuid(),
);
const bytes = fc.uint8Array({ maxLength: 100 });

const valuesOf: Readonly<Record<ColumnOptions["encoding"], fc.Arbitrary<Value>>> = {
  bool: fc.boolean(),
  int32: small(fc.integer(), fc.integer({ min: -40_000, max: 40_000 })),
  int64: small<Value>(bits(64), bits(16), bits(33)),
  float64: small(fc.double(), fc.constantFrom(0.1, 1e21, -1e-7, 5e-324, 1.7e308)),
  decimal64: small<Value>(bits(64), bits(20)),
  decimal128: small<Value>(fc.bigInt({ min: -(10n ** 38n) + 1n, max: 10n ** 38n - 1n }), bits(20)),
  date32: small(
    fc.integer({ min: -2_440_588, max: 2_145_042_905 }),
    fc.constantFrom(2 ** 31 - 1, -(2 ** 31) + 1),
  ),
  time64: fc.bigInt({ min: 0n, max: 86_400_000_000n }),
  timestamp64: small<Value>(
    fc.bigInt({ min: -210_866_803_200_000_000n, max: 253_402_300_800_000_000n }),
    fc.constantFrom(2n ** 63n - 1n, -(2n ** 63n) + 1n, 0n),
  ),
  uuid128: fc.uint8Array({ minLength: 16, maxLength: 16 }),
  utf8: text,
  binary: bytes,
  json: small(
    fc.jsonValue().map((value) => JSON.stringify(value)),
    text.map((value) => JSON.stringify(value)),
    fc.constantFrom('"\\ud800"', "1e99999", `[${"1".repeat(10_001)}]`),
  ),
  number: numbers,
};

test.each(
  kindsAndEncodings,
)("%s as %s: rows are whole in every type, and have the memory that they take", (kind, encoding) => {
  const value = fc.option(valuesOf[encoding], { freq: 5 });
  const sampled = fc.record({
    type: fc.constantFrom(...columnTypes),
    values: fc.array(value, { minLength: 1, maxLength: 12 }),
    scale: fc.integer({ min: 0, max: encoding === "decimal64" ? 18 : 38 }),
    hasNumericInfinity: fc.boolean(),
  });
  fc.assert(
    fc.property(sampled, ({ type, values, scale, hasNumericInfinity }) => {
      const field = { options: { kind, encoding, scale }, type, values };
      const beside = {
        options: { kind: "text", encoding: "utf8" } as const,
        type: "text" as const,
      };
      const marks = values.map((_, row) => `${row}`);
      const { bytes, types } = encode([field, { ...beside, values: marks }], {
        hasNumericInfinity,
      });
      expect(bytes.buffer.byteLength).toBe(bytes.length);
      const rows = rowsOf(bytes);
      expect(rows.map((row) => row.length)).toEqual(values.map(() => 6));
      expect(rows.map((row) => row[1]?.toString())).toEqual(marks);
      for (const [row, given] of values.entries()) {
        const written = rows[row]?.[0];
        if (given === null) expect(written).toBeNull();
        else if (written)
          expect(written.length).toBe(widths[types[0] as ColumnType] ?? written.length);
        else expect(JSON.stringify(metaOf(rows[row]))).toContain("NULLED");
      }
    }),
    { numRuns: 300 },
  );
});

test("texts of nothing but NUL are replaced character by character", () => {
  const nothing = "\0".repeat(20);
  const values = [nothing, "a", `${nothing}é`];
  const { bytes } = encode([{ options: { kind: "text", encoding: "utf8" }, type: "text", values }]);
  const rows = rowsOf(bytes);
  expect(rows.map(([value]) => value?.toString())).toEqual([
    "\ufffd".repeat(20),
    "a",
    `${"\ufffd".repeat(20)}é`,
  ]);
  expect(rows.map(metaOf)).toMatchObject([
    { changes: [{ field: "c0", change: "REPLACED" }] },
    null,
    { changes: [{ field: "c0", change: "REPLACED" }] },
  ]);
});

/** Bytes of memory that a call asks for beyond what V8's small objects take. */
function allocating<Result>(call: () => Result): {
  readonly result: Result;
  readonly bytes: number;
} {
  let bytes = 0;
  const allocate = Buffer.allocUnsafeSlow;
  vi.spyOn(Buffer, "allocUnsafeSlow").mockImplementation((size) => {
    bytes += size;
    return allocate(size);
  });
  return { result: call(), bytes };
}

test.each<[string, Field, Pick<Batch, "notes">]>([
  [
    "8,192 numbers",
    {
      options: { kind: "number", encoding: "number" },
      type: "numeric",
      values: Array.from({ length: 8_192 }, (_, row) => `${row}.25`),
    },
    { notes: [] },
  ],
  [
    "65,536 numbers with a power of ten each",
    {
      options: { kind: "number", encoding: "number" },
      type: "numeric",
      values: Array.from({ length: 65_536 }, (_, row) => (row % 2 ? "1e5000" : "1e-5000")),
    },
    { notes: [] },
  ],
  [
    "8,000 rows that have lost values",
    {
      options: { kind: "integer", encoding: "int32" },
      type: "integer",
      values: Array.from({ length: 8_000 }, () => null),
    },
    { notes: Array.from({ length: 8_000 }, (_, row) => ({ row, fields: ["c0"] })) },
  ],
])("%s ask for memory a few times as large as the rows", (_name, field, { notes }) => {
  const { result, bytes } = allocating(() => encode([field], { notes }));
  expect(rowsOf(result.bytes)).toHaveLength(field.values.length);
  expect(bytes / result.bytes.length).toBeLessThan(4);
});

test("a power of ten has no digits of its own", () => {
  const values = ["1e5000", "-12e-4", "1e5001"];
  const encoded = (given: readonly string[]) =>
    rowsOf(
      encode([{ options: { kind: "number", encoding: "number" }, type: "numeric", values: given }])
        .bytes,
    ).map(([value]) => value?.toString("hex"));
  // Count of digits, weight, sign, decimals, digits.
  expect(encoded(values.slice(0, 2))).toEqual(["000104e2000000000001", "0001ffff40000004000c"]);
  expect(encoded(values)).toEqual(values.map((value) => Buffer.from(value).toString("hex")));
});

test("values that numeric of this server does not have are null, and counted", () => {
  const field: Field = {
    options: { kind: "number", encoding: "number" },
    type: "numeric",
    values: ["1", "Infinity", null, "-Infinity", "NaN"],
  };
  const old = encode([field, field], { hasNumericInfinity: false });
  expect(old.nulledCount).toBe(4);
  expect(rowsOf(old.bytes).map(([value]) => value !== null)).toEqual([
    true,
    false,
    false,
    false,
    true,
  ]);
  expect(encode([field]).nulledCount).toBe(0);
});
