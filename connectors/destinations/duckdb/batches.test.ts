/** Rows as columns: every kind in every encoding, what does not fit, and what comes back of it. */
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ColumnOptions, columnOf } from "../../../fixtures/batches.ts";
import { describeStream } from "../../../tests/destination-behaviour.ts";
import { openDuckdbPlace } from "../../../tests/duckdb-place.ts";

import { type Database, openDatabase } from "./database.ts";

type Values = Parameters<typeof columnOf>[2];
type ColumnCase = ColumnOptions & { readonly values: Values };
type Batches = readonly { readonly [property: string]: ColumnCase }[];

const clock = { now: () => 1_700_000_000_000, sleep: async () => {} };
let place: Awaited<ReturnType<typeof openDuckdbPlace>>;
/** Kept open: to open a file costs more than to write a few rows. */
let database: Database;
beforeAll(async () => {
  place = await openDuckdbPlace(clock);
  database = await openDatabase(place.path);
});
afterAll(async () => {
  await database[Symbol.asyncDispose]();
  await place.close();
});

let count = 0;
/** Writes batches, a run for each group of them, and gives the name of their table. */
async function write(
  properties: { readonly [property: string]: object },
  ...runs: readonly Batches[]
): Promise<string> {
  const name = `b${count++}`;
  const stream = describeStream(properties, { name });
  let location = "";
  for (const [index, batches] of runs.entries()) {
    const fence = index + 1;
    const sink = await place.write({ owner: name, jobId: "job", fence, streams: [stream] });
    try {
      await sink.status({ name }, "started");
      for (const batch of batches) {
        const columns = Object.entries(batch).map(([property, { values, ...options }]) =>
          columnOf(property, options, values),
        );
        const rowCount = Object.values(batch)[0]?.values.length ?? 0;
        await sink.writeBatch?.({ name }, { rowCount, columns, notes: [] });
      }
      await sink.checkpoint({ name }, { at: index }, 1);
      await sink.status({ name }, "complete");
      location = sink.location({ name });
    } finally {
      await sink.close();
    }
  }
  return location;
}

const typeOf = async (location: string, column = "v") =>
  (await place.sql(`DESCRIBE ${location}`)).find(([name]) => name === column)?.[1];
const texts = async (location: string, column = "v") =>
  (await place.sql(`SELECT CAST(${column} AS VARCHAR) FROM ${location} ORDER BY rowid`)).map(
    ([value]) => value,
  );

const uuid = "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0";
const uuidBytes = Buffer.from(uuid.replaceAll("-", ""), "hex");
const day = 86_400_000_000n;
const decimal = (precision: number, scale: number) => ({
  type: "number",
  airbyte_type: "big_number",
  precision,
  scale,
});
const instant = { type: "string", format: "date-time" };
const local = { ...instant, airbyte_type: "timestamp_without_timezone" };
const time = { type: "string", airbyte_type: "time_without_timezone" };
const native = (postgresql: string) => ({ type: "string", native_type: { postgresql } });
const text = { kind: "text", encoding: "utf8" } as const;

describe("each kind in each of its encodings", () => {
  test.each<[string, object, ColumnOptions, Values, string, (string | null)[]]>([
    [
      "bool",
      { type: "boolean" },
      { kind: "boolean", encoding: "bool" },
      [true, null, false],
      "BOOLEAN",
      ["true", null, "false"],
    ],
    [
      "int32 in int16",
      { type: "integer", format: "int16" },
      { kind: "integer", encoding: "int32" },
      [-32_768, null, 32_767],
      "SMALLINT",
      ["-32768", null, "32767"],
    ],
    [
      "int32",
      { type: "integer", format: "int32" },
      { kind: "integer", encoding: "int32" },
      [-(2 ** 31), null, 2 ** 31 - 1],
      "INTEGER",
      ["-2147483648", null, "2147483647"],
    ],
    [
      "int32 in int64",
      { type: "integer" },
      { kind: "integer", encoding: "int32" },
      [-1, null, 7],
      "BIGINT",
      ["-1", null, "7"],
    ],
    [
      "int64",
      { type: "integer" },
      { kind: "integer", encoding: "int64" },
      [-(2n ** 63n), null, 2n ** 63n - 1n],
      "BIGINT",
      ["-9223372036854775808", null, "9223372036854775807"],
    ],
    [
      "decimal64 as an integer",
      { type: "integer" },
      { kind: "integer", encoding: "decimal64" },
      [1n, null, -5n],
      "BIGINT",
      ["1", null, "-5"],
    ],
    [
      "decimal128 as an integer",
      { type: "integer", airbyte_type: "big_integer" },
      { kind: "integer", encoding: "decimal128" },
      [10n ** 37n, null, -(10n ** 37n)],
      "HUGEINT",
      [`1${"0".repeat(37)}`, null, `-1${"0".repeat(37)}`],
    ],
    [
      "number as an integer",
      { type: "integer" },
      { kind: "integer", encoding: "number" },
      ["12", null, "1e3", "5.0"],
      "BIGINT",
      ["12", null, "1000", "5"],
    ],
    [
      "float64",
      { type: "number" },
      { kind: "number", encoding: "float64" },
      [0.1, null, Number.NaN, Number.POSITIVE_INFINITY, 5e-324],
      "DOUBLE",
      ["0.1", null, "nan", "inf", "5e-324"],
    ],
    [
      "int64 as a double",
      { type: "number" },
      { kind: "number", encoding: "int64" },
      [2n ** 53n, null, -1n],
      "DOUBLE",
      ["9007199254740992.0", null, "-1.0"],
    ],
    [
      "decimal64 as a double",
      { type: "number" },
      { kind: "number", encoding: "decimal64", scale: 3 },
      [1_500n, null, -1n],
      "DOUBLE",
      ["1.5", null, "-0.001"],
    ],
    [
      "number as a double",
      { type: "number" },
      { kind: "number", encoding: "number" },
      ["0.5", null, "1e300", "NaN", "-Infinity"],
      "DOUBLE",
      ["0.5", null, "1e+300", "nan", "-inf"],
    ],
    [
      "decimal64",
      decimal(12, 2),
      { kind: "number", encoding: "decimal64", scale: 2 },
      [12_345n, null, -1n],
      "DECIMAL(12,2)",
      ["123.45", null, "-0.01"],
    ],
    [
      "decimal64 of another scale",
      decimal(20, 4),
      { kind: "number", encoding: "decimal64", scale: 2 },
      [12_345n, null],
      "DECIMAL(20,4)",
      ["123.4500", null],
    ],
    [
      "decimal64 in few digits",
      decimal(4, 1),
      { kind: "number", encoding: "decimal64", scale: 1 },
      [9_999n, null],
      "DECIMAL(4,1)",
      ["999.9", null],
    ],
    [
      "decimal128",
      decimal(38, 10),
      { kind: "number", encoding: "decimal128", scale: 10 },
      [10n ** 38n - 1n, null, 1n - 10n ** 38n],
      "DECIMAL(38,10)",
      [`${"9".repeat(28)}.${"9".repeat(10)}`, null, `-${"9".repeat(28)}.${"9".repeat(10)}`],
    ],
    [
      "number as a decimal",
      decimal(20, 4),
      { kind: "number", encoding: "number" },
      ["1.5", null, "12e-3", "-1E2"],
      "DECIMAL(20,4)",
      ["1.5000", null, "0.0120", "-100.0000"],
    ],
    [
      "float64 as a decimal",
      decimal(20, 4),
      { kind: "number", encoding: "float64" },
      [0.1, null, 1e-4],
      "DECIMAL(20,4)",
      ["0.1000", null, "0.0001"],
    ],
    [
      "int32 as a decimal",
      decimal(6, 2),
      { kind: "number", encoding: "int32" },
      [9_999, null],
      "DECIMAL(6,2)",
      ["9999.00", null],
    ],
    [
      "utf8",
      { type: "string" },
      { kind: "text", encoding: "utf8" },
      ["", null, "a\0b", "ä€😀".repeat(9), "x".repeat(12), "y".repeat(13)],
      "VARCHAR",
      ["", null, "a\0b", "ä€😀".repeat(9), "x".repeat(12), "y".repeat(13)],
    ],
    [
      "json",
      {},
      { kind: "json", encoding: "json" },
      ['{"a":1.10,"b":12345678901234567890.5}', null, '"x"', "[]", '"\\ud800"'],
      "JSON",
      ['{"a":1.10,"b":12345678901234567890.5}', null, '"x"', "[]", '"\\ufffd"'],
    ],
    [
      "json as a text",
      { anyOf: [{ type: "string" }, { type: "integer" }] },
      { kind: "json", encoding: "json" },
      ['"a\\"b"', null, "7", '""'],
      "VARCHAR",
      ['a"b', null, "7", ""],
    ],
    [
      "date32",
      { type: "string", format: "date" },
      { kind: "date", encoding: "date32" },
      [0, null, -719_529, 2 ** 31 - 1, 1 - 2 ** 31, 2_145_042_905],
      "DATE",
      ["1970-01-01", null, "0002-12-31 (BC)", "infinity", "-infinity", "5874897-12-31"],
    ],
    [
      "utf8 as a date",
      { type: "string", format: "date" },
      { kind: "date", encoding: "utf8" },
      ["2024-02-29", null, "infinity"],
      "DATE",
      ["2024-02-29", null, "infinity"],
    ],
    [
      "time64",
      time,
      { kind: "time", encoding: "time64" },
      [0n, null, day, 1n],
      "TIME",
      ["00:00:00", null, "24:00:00", "00:00:00.000001"],
    ],
    [
      "utf8 as a time",
      time,
      { kind: "time", encoding: "utf8" },
      ["12:34:56.5", null],
      "TIME",
      ["12:34:56.5", null],
    ],
    [
      "timestamp64",
      local,
      { kind: "timestamp", encoding: "timestamp64" },
      [1n, null, 2n ** 63n - 1n, 1n - 2n ** 63n, -62_135_596_800_000_001n],
      "TIMESTAMP",
      [
        "1970-01-01 00:00:00.000001",
        null,
        "infinity",
        "-infinity",
        "0001-12-31 (BC) 23:59:59.999999",
      ],
    ],
    [
      "timestamp64 with a zone",
      instant,
      { kind: "timestamptz", encoding: "timestamp64" },
      [1n, null, 2n ** 63n - 1n],
      "TIMESTAMP WITH TIME ZONE",
      ["1970-01-01 00:00:00.000001+00", null, "infinity"],
    ],
    [
      "utf8 as a timestamp",
      local,
      { kind: "timestamp", encoding: "utf8" },
      ["2024-01-01T10:00:00.5", null],
      "TIMESTAMP",
      ["2024-01-01 10:00:00.5", null],
    ],
    [
      "utf8 as an instant",
      instant,
      { kind: "timestamptz", encoding: "utf8" },
      ["2024-01-01T10:00:00+02:00", null, "2024-01-01T10:00:00Z"],
      "TIMESTAMP WITH TIME ZONE",
      ["2024-01-01 08:00:00+00", null, "2024-01-01 10:00:00+00"],
    ],
    [
      "uuid128",
      { type: "string", format: "uuid" },
      { kind: "uuid", encoding: "uuid128" },
      [uuidBytes, null, new Uint8Array(16).fill(255)],
      "UUID",
      [uuid, null, "ffffffff-ffff-ffff-ffff-ffffffffffff"],
    ],
    [
      "utf8 as a uuid",
      { type: "string", format: "uuid" },
      { kind: "uuid", encoding: "utf8" },
      [uuid, null],
      "UUID",
      [uuid, null],
    ],
    [
      "binary",
      { type: "string", contentEncoding: "base64" },
      { kind: "binary", encoding: "binary" },
      [Buffer.from([0, 255, 65]), null, Buffer.from("")],
      "BLOB",
      ["\\x00\\xFFA", null, ""],
    ],
    [
      "utf8 as binary",
      { type: "string", contentEncoding: "base64" },
      { kind: "binary", encoding: "utf8" },
      ["AP9B", null],
      "BLOB",
      ["\\x00\\xFFA", null],
    ],
    [
      "utf8 as an interval",
      native("interval"),
      text,
      [
        "P1Y2M3DT4H5M6.789012S",
        null,
        "P-178000000Y",
        "PT0S",
        "P-1Y-2M3DT-4H-5M-6.5S",
        "PT-2562047788H-54.775808S",
        "P-2147483648DT0.000001S",
      ],
      "INTERVAL",
      [
        "1 year 2 months 3 days 04:05:06.789012",
        null,
        "-178000000 years",
        "00:00:00",
        "-1 year -2 months 3 days -04:05:06.5",
        "-2562047788:00:54.775808",
        "-2147483648 days 00:00:00.000001",
      ],
    ],
    [
      "utf8 as a time with its zone",
      native("time with time zone"),
      text,
      ["12:34:56.789012+05:30", null, "24:00:00-15:59:59"],
      "TIME WITH TIME ZONE",
      ["12:34:56.789012+05:30", null, "24:00:00-15:59:59"],
    ],
    [
      "utf8 as bits",
      native("bit varying"),
      text,
      ["10101010101", null, "0"],
      "BIT",
      ["10101010101", null, "0"],
    ],
  ])("%s", async (_, schema, options, values, type, expected) => {
    const location = await write({ v: schema }, [{ v: { ...options, values } }]);
    expect(await typeOf(location)).toBe(type);
    expect(await texts(location)).toEqual(expected);
  });
});

describe("what a column cannot hold widens it", () => {
  const integer16 = { type: "integer", format: "int16" };
  const of = (encoding: ColumnOptions["encoding"], ...values: Values): ColumnCase => ({
    kind: "number",
    encoding,
    values,
  });
  const free = { type: "number", airbyte_type: "big_number" };

  test.each<[string, object, ColumnCase[], string, (string | null)[]]>([
    ["int16 to int32", integer16, [of("int32", 1, 40_000)], "INTEGER", ["1", "40000"]],
    [
      "int16 to int64",
      integer16,
      [of("int32", 1), of("int64", 2n ** 40n)],
      "BIGINT",
      ["1", String(2n ** 40n)],
    ],
    [
      "int64 to 128 bits",
      { type: "integer" },
      [of("int64", 1n), of("number", "9223372036854775808")],
      "HUGEINT",
      ["1", "9223372036854775808"],
    ],
    [
      "128 bits to text",
      { type: "integer" },
      [of("number", "1".repeat(60), "2")],
      "VARCHAR",
      ["1".repeat(60), "2"],
    ],
    [
      "an integer with a fraction to text",
      { type: "integer" },
      [of("int64", 1n), of("number", "1.5")],
      "VARCHAR",
      ["1", "1.5"],
    ],
    [
      "decimals by their scale",
      decimal(12, 2),
      [
        { ...of("decimal64", 100n), scale: 2 },
        { ...of("decimal64", 12_345n), scale: 4 },
      ],
      "DECIMAL(18,4)",
      ["1.0000", "1.2345"],
    ],
    [
      "decimals by their digits",
      decimal(12, 2),
      [of("number", "123456789012345678901.5")],
      "DECIMAL(38,2)",
      ["123456789012345678901.50"],
    ],
    [
      "decimals to text",
      decimal(12, 2),
      [of("number", "1.5", "1e-60")],
      "VARCHAR",
      ["1.5", "1e-60"],
    ],
    [
      "not by zeros behind the point",
      decimal(12, 2),
      [{ ...of("decimal64", 12_300n), scale: 4 }, of("number", "1.50000")],
      "DECIMAL(12,2)",
      ["1.23", "1.50"],
    ],
    [
      "doubles to text",
      { type: "number" },
      [of("float64", 0.5), of("number", "0.12345678901234567891")],
      "VARCHAR",
      ["0.5", "0.12345678901234567891"],
    ],
    [
      "doubles to text by a long integer",
      { type: "number" },
      [of("int64", 2n ** 53n + 1n)],
      "VARCHAR",
      ["9007199254740993"],
    ],
    [
      "a number of any digits is a narrow decimal",
      free,
      [{ ...of("decimal64", 150n, null), scale: 2 }],
      "DECIMAL(18,2)",
      ["1.50", null],
    ],
    [
      "a wider one",
      free,
      [of("number", "1.5", "12345678901234567890.123")],
      "DECIMAL(38,3)",
      ["1.500", "12345678901234567890.123"],
    ],
    [
      "and text beyond 38 digits",
      free,
      [of("number", "1.5", "9".repeat(39))],
      "VARCHAR",
      ["1.5", "9".repeat(39)],
    ],
    [
      "and DuckDB's own decimal where nothing is seen",
      free,
      [of("number", null)],
      "DECIMAL(18,3)",
      [null],
    ],
    [
      "a date to text",
      { type: "string", format: "date" },
      [
        { kind: "date", encoding: "date32", values: [0] },
        { kind: "date", encoding: "utf8", values: ["2024-02-30"] },
      ],
      "VARCHAR",
      ["1970-01-01", "2024-02-30"],
    ],
    [
      "an instant to text",
      instant,
      [{ kind: "timestamptz", encoding: "utf8", values: ["soon", "2024-01-01T00:00:00Z"] }],
      "VARCHAR",
      ["soon", "2024-01-01T00:00:00Z"],
    ],
    [
      "a uuid to text",
      { type: "string", format: "uuid" },
      [
        { kind: "uuid", encoding: "uuid128", values: [uuidBytes] },
        { kind: "uuid", encoding: "utf8", values: ["none"] },
      ],
      "VARCHAR",
      [uuid, "none"],
    ],
    [
      "bytes to base64",
      { type: "string", contentEncoding: "base64" },
      [
        { kind: "binary", encoding: "binary", values: [Buffer.from([0, 255])] },
        { kind: "binary", encoding: "utf8", values: ["no base64"] },
      ],
      "VARCHAR",
      ["AP8=", "no base64"],
    ],
    ...[
      ["an interval", "interval", "P1Y2M3DT-4H-5M-6.05S", "PT2562047788H54.775808S"],
      ["an interval of no time", "interval", "PT0S", "P1W"],
      ["a time with its zone", "time with time zone", "12:00:00.5+02", "12:00:00.1234567+02"],
      ["a time that has none", "time with time zone", "12:00:00+02", "12:00:00"],
      ["a time of no clock", "time with time zone", "12:00:00+02", "25:00:00+02"],
      ["bits", "bit varying", "0101", ""],
    ].map(
      ([what, type = "", ...values]) =>
        [
          `${what} to text`,
          native(type),
          values.map((value) => ({ ...text, values: [value] })),
          "VARCHAR",
          values,
        ] as [string, object, ColumnCase[], string, string[]],
    ),
  ])("%s", async (_, schema, batches, type, expected) => {
    const all = batches.map((v) => ({ v }));
    // In one transaction, and in one after the other, where the table has the narrow type already.
    for (const location of [
      await write({ v: schema }, all),
      await write({ v: schema }, ...all.map((batch) => [batch])),
    ]) {
      expect(await texts(location)).toEqual(expected);
      expect(await typeOf(location)).toBe(type);
    }
  });

  test("a table of before, with wider types, keeps them", async () => {
    const name = `b${count}`;
    const location = await write({ v: { type: "integer" } }, [{ v: of("int64", 1n) }]);
    const stream = describeStream({ v: integer16 }, { name });
    const sink = await place.write({ owner: name, jobId: "job", fence: 9, streams: [stream] });
    await sink.status({ name }, "started");
    const columns = [columnOf("v", { kind: "integer", encoding: "int32" }, [7])];
    await sink.writeBatch?.({ name }, { rowCount: 1, columns, notes: [] });
    await sink.checkpoint({ name }, { at: 9 }, 1);
    await sink.status({ name }, "complete");
    await sink.close();
    expect([await typeOf(location), await texts(location)]).toEqual(["BIGINT", ["1", "7"]]);
  });

  test("NaN and infinity, which no decimal has, are null and noted beside the row's other notes", async () => {
    const name = `b${count++}`;
    const stream = describeStream({ v: decimal(12, 2), w: { type: "string" } }, { name });
    const sink = await place.write({ owner: name, jobId: "job", fence: 1, streams: [stream] });
    await sink.status({ name }, "started");
    const columns = [
      columnOf("v", { kind: "number", encoding: "number" }, ["1.5", "NaN", null, "-Infinity"]),
      columnOf("w", { kind: "text", encoding: "utf8" }, ["a", "b", "c", null]),
    ];
    const notes = [{ row: 3, fields: ["w"] }];
    await sink.writeBatch?.({ name }, { rowCount: 4, columns, notes });
    await sink.checkpoint({ name }, { at: 1 }, 4);
    await sink.status({ name }, "complete");
    await sink.close();
    const location = sink.location({ name });
    expect(sink.nulledCount?.({ name })).toBe(2);
    expect(await texts(location)).toEqual(["1.50", null, null, null]);
    const fields = (await texts(location, "_svc_meta")).map((meta) =>
      meta === null || meta === undefined
        ? []
        : JSON.parse(meta).changes.map(({ field }: { field: string }) => field),
    );
    expect(fields).toEqual([[], ["v"], [], ["w", "v"]]);
  });

  test.each([
    "append_dedup",
    "append",
  ] as const)("of a stream whose rows are written as %s, each value that is null is counted once, as far as rows are kept", async (into) => {
    const name = `b${count++}`;
    const properties = { id: { type: "integer" }, v: decimal(12, 2) };
    const stream = describeStream(properties, { name, into, key: ["id"] });
    const sink = await place.write({ owner: name, jobId: "job", fence: 1, streams: [stream] });
    await sink.status({ name }, "started");
    // So many that they are looked at by their keys first.
    const rowCount = 3_000;
    const rows = (value: string) => [
      columnOf(
        "id",
        { kind: "integer", encoding: "int32" },
        Array.from({ length: rowCount }, (_, row) => row),
      ),
      columnOf("v", { kind: "number", encoding: "number" }, Array(rowCount).fill(value)),
    ];
    for (const value of ["NaN", "1.5", "Infinity"])
      await sink.writeBatch?.({ name }, { rowCount, columns: rows(value), notes: [] });
    await sink.checkpoint({ name }, { at: 1 }, 3 * rowCount);
    await sink.writeBatch?.({ name }, { rowCount, columns: rows("NaN"), notes: [] });
    await sink.status({ name }, "incomplete");
    await sink.close();
    expect(sink.nulledCount?.({ name })).toBe(2 * rowCount);
    expect(sink.nulledCount?.({ name: "another" })).toBe(0);
  });
});

describe("any values", () => {
  const check = async (
    schema: object,
    options: ColumnOptions,
    values: Values,
    toText: (value: NonNullable<Values[number]>) => string,
  ) => {
    const location = await write({ v: schema }, [{ v: { ...options, values } }]);
    expect(await texts(location)).toEqual(
      values.map((value) => (value === null ? null : toText(value))),
    );
  };
  const nullable = <Value>(value: fc.Arbitrary<Value>) =>
    fc.array(fc.option(value), { minLength: 1, maxLength: 60 });

  test("integers of 64 bits come back as they are", () =>
    fc.assert(
      fc.asyncProperty(nullable(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })), (values) =>
        check({ type: "integer" }, { kind: "integer", encoding: "int64" }, values, String),
      ),
      { numRuns: 10 },
    ));

  test("decimals of 38 digits come back as they are, whatever their column was", () => {
    const limit = 10n ** 38n - 1n;
    const cases = fc.tuple(fc.integer({ min: 0, max: 37 }), nullable(fc.bigInt(-limit, limit)));
    return fc.assert(
      fc.asyncProperty(cases, async ([scale, values]) => {
        const v = { kind: "number", encoding: "decimal128", scale, values } as const;
        for (const schema of [
          decimal(38, scale),
          decimal(9, 2),
          { type: "number", airbyte_type: "big_number" },
        ]) {
          const found = await texts(await write({ v: schema }, [{ v }]));
          const worth = (text: string | null | undefined) =>
            text === null || text === undefined ? null : toScaled(text, 40);
          expect(found.map(worth)).toEqual(
            values.map((value) => (value === null ? null : value * 10n ** BigInt(40 - scale))),
          );
        }
      }),
      { numRuns: 6 },
    );
  });

  test("texts come back byte by byte, over many vectors and beside nulls", () => {
    const text = fc.oneof(
      fc.string({ unit: "binary", maxLength: 40 }),
      fc.constantFrom("", "x".repeat(12), "y".repeat(13)),
    );
    return fc.assert(
      fc.asyncProperty(fc.array(fc.option(text), { minLength: 1, maxLength: 300 }), (values) => {
        const many = Array.from({ length: Math.ceil(5_000 / values.length) }, () => values).flat();
        return check({ type: "string" }, { kind: "text", encoding: "utf8" }, many, String);
      }),
      { numRuns: 4 },
    );
  });

  test("uuids and doubles come back as they are", () =>
    fc.assert(
      fc.asyncProperty(nullable(fc.uuid()), nullable(fc.double()), async (ids, numbers) => {
        const bytes = ids.map((id) =>
          id === null ? null : Buffer.from(id.replaceAll("-", ""), "hex"),
        );
        const uuids = await write({ v: { type: "string", format: "uuid" } }, [
          { v: { kind: "uuid", encoding: "uuid128", values: bytes } },
        ]);
        expect(await texts(uuids)).toEqual(ids);
        const doubles = await write({ v: { type: "number" } }, [
          { v: { kind: "number", encoding: "float64", values: numbers } },
        ]);
        const found = (await texts(doubles)).map((text) =>
          text === null ? null : Number(text?.replace("inf", "Infinity")),
        );
        expect(found).toEqual(numbers);
      }),
      { numRuns: 10 },
    ));
});

/** A decimal text as an integer of a scale. */
function toScaled(text: string, scale: number): bigint {
  const [whole = "", fraction = ""] = text.split(".");
  return BigInt(`${whole}${fraction.padEnd(scale, "0")}`);
}
