import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { columnOf } from "../../../fixtures/batches.ts";
import {
  findPostgres,
  type PostgresServer,
  startPostgres,
} from "../../../simulators/postgres-server.ts";
import { describeStream } from "../../../tests/destination-behaviour.ts";
import { openPostgresPlace, type PostgresPlace } from "../../../tests/postgres-place.ts";

type Column = ReturnType<typeof columnOf>;
type Values = Parameters<typeof columnOf>[2];

let server: PostgresServer;
let place: PostgresPlace;
beforeAll(async () => {
  server = await startPostgres();
  place = await openPostgresPlace(server);
});
afterAll(async () => {
  await place?.close();
  await server?.stop();
});

let tableCount = 0;

/** Writes batches of one stream in one job; gives the table. */
async function writeBatches(
  schema: Record<string, object>,
  batches: readonly (readonly Column[])[],
  notes: readonly { row: number; fields: string[] }[] = [],
): Promise<string> {
  const name = `t${++tableCount}`;
  const stream = describeStream(schema, { name });
  const sink = await place.write({ owner: name, jobId: "job_1", fence: 1, streams: [stream] });
  await sink.status({ name }, "started");
  for (const columns of batches) {
    const [first] = columns;
    const rowCount =
      first === undefined ? 0 : "offsets" in first ? first.offsets.length - 1 : rowsOf(first);
    await sink.writeBatch?.({ name }, { rowCount, columns, notes });
  }
  await sink.status({ name }, "complete");
  await sink.close();
  return `_svc_${name}`;
}

const rowsOf = ({ encoding, values }: Exclude<Column, { offsets: Uint32Array }>) =>
  encoding === "uuid128" || encoding === "decimal128" ? values.length / 16 : values.length;

const textsOf = async (table: string, column = "v") =>
  (await place.sql(`SELECT ${column}::text FROM ${table} ORDER BY _svc_id`)).flat();
const typeOf = async (table: string, column = "v") =>
  (
    await place.sql(
      `SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = '${table}'::regclass AND attname = '${column}'`,
    )
  ).flat()[0];

const timestamptz = {
  type: "string",
  format: "date-time",
  airbyte_type: "timestamp_with_timezone",
};
const timestamp = {
  type: "string",
  format: "date-time",
  airbyte_type: "timestamp_without_timezone",
};
const uuid = Buffer.from("00112233445566778899aabbccddeeff", "hex");
const endless = 2n ** 63n - 1n;

describe.skipIf(findPostgres() === undefined)("batches in a real PostgreSQL", () => {
  test.each<
    [string, object, Omit<Parameters<typeof columnOf>[1], "isNullable">, Values, string, string[]]
  >([
    [
      "booleans",
      { type: "boolean" },
      { kind: "boolean", encoding: "bool" },
      [true, false],
      "boolean",
      ["true", "false"],
    ],
    [
      "integers of 16 bits",
      { type: "integer", format: "int16" },
      { kind: "integer", encoding: "int32" },
      [-32_768, 32_767],
      "smallint",
      ["-32768", "32767"],
    ],
    [
      "integers of 32 bits",
      { type: "integer", format: "int32" },
      { kind: "integer", encoding: "int32" },
      [-(2 ** 31), 2 ** 31 - 1],
      "integer",
      ["-2147483648", "2147483647"],
    ],
    [
      "integers of 64 bits",
      { type: "integer" },
      { kind: "integer", encoding: "int64" },
      [-(2n ** 63n), endless, 0n],
      "bigint",
      ["-9223372036854775808", "9223372036854775807", "0"],
    ],
    [
      "short integers that came as long ones",
      { type: "integer", format: "int16" },
      { kind: "integer", encoding: "int64" },
      [-7n],
      "smallint",
      ["-7"],
    ],
    [
      "doubles",
      { type: "number" },
      { kind: "number", encoding: "float64" },
      [0.1, -0, 5e-324, Number.NaN, -Infinity],
      "double precision",
      ["0.1", "-0", "5e-324", "NaN", "-Infinity"],
    ],
    [
      "decimals",
      { type: "number", airbyte_type: "big_number", precision: 12, scale: 2 },
      { kind: "number", encoding: "decimal64", scale: 2 },
      [150n, -5n, 0n, 999_999_999_999n, 10n ** 18n - 1n],
      "numeric",
      ["1.50", "-0.05", "0.00", "9999999999.99", "9999999999999999.99"],
    ],
    [
      "long decimals",
      { type: "number", airbyte_type: "big_number" },
      { kind: "number", encoding: "decimal128", scale: 7 },
      [10n ** 38n - 1n, -1n, 10_000_000n],
      "numeric",
      ["9999999999999999999999999999999.9999999", "-0.0000001", "1.0000000"],
    ],
    [
      "numbers by their digits",
      { type: "number", airbyte_type: "big_number" },
      { kind: "number", encoding: "number" },
      ["1.50", "-0.0001", "1e20", "12.5e-3", "100000.00001", "0", "NaN", `1${"0".repeat(200)}.5`],
      "numeric",
      [
        "1.50",
        "-0.0001",
        "100000000000000000000",
        "0.0125",
        "100000.00001",
        "0",
        "NaN",
        `1${"0".repeat(200)}.5`,
      ],
    ],
    [
      "dates",
      { type: "string", format: "date" },
      { kind: "date", encoding: "date32" },
      [0, -719_163, 2 ** 31 - 1, -(2 ** 31) + 1, 2_145_042_905],
      "date",
      ["1970-01-01", "0001-12-31 BC", "infinity", "-infinity", "5874897-12-31"],
    ],
    [
      "times",
      { type: "string", airbyte_type: "time_without_timezone" },
      { kind: "time", encoding: "time64" },
      [0n, 86_400_000_000n, 1n],
      "time without time zone",
      ["00:00:00", "24:00:00", "00:00:00.000001"],
    ],
    [
      "instants",
      timestamptz,
      { kind: "timestamptz", encoding: "timestamp64" },
      [
        0n,
        -1n,
        946_684_800_000_000n,
        946_684_799_999_999n,
        endless,
        -endless,
        -210_866_803_200_000_000n,
        253_402_300_800_000_000n,
      ],
      "timestamp with time zone",
      [
        "1970-01-01 00:00:00+00",
        "1969-12-31 23:59:59.999999+00",
        "2000-01-01 00:00:00+00",
        "1999-12-31 23:59:59.999999+00",
        "infinity",
        "-infinity",
        "4714-11-24 00:00:00+00 BC",
        "10000-01-01 00:00:00+00",
      ],
    ],
    [
      "local times",
      timestamp,
      { kind: "timestamp", encoding: "timestamp64" },
      [1_700_000_000_500_000n],
      "timestamp without time zone",
      ["2023-11-14 22:13:20.5"],
    ],
    [
      "instants as providers write them",
      timestamptz,
      { kind: "timestamptz", encoding: "utf8" },
      [
        "2024-02-29T12:00:00Z",
        "2024-02-29T12:00:00.123456+05:30",
        "0001-01-01 00:00:00Z",
        "2024-06-30T23:59:60Z",
        "9999-12-31T23:59:59.9999999Z",
      ],
      "timestamp with time zone",
      [
        "2024-02-29 12:00:00+00",
        "2024-02-29 06:30:00.123456+00",
        "0001-01-01 00:00:00+00",
        "2024-07-01 00:00:00+00",
        "10000-01-01 00:00:00+00",
      ],
    ],
    [
      "UUIDs",
      { type: "string", format: "uuid" },
      { kind: "uuid", encoding: "uuid128" },
      [uuid],
      "uuid",
      ["00112233-4455-6677-8899-aabbccddeeff"],
    ],
    [
      "UUIDs as texts",
      { type: "string", format: "uuid" },
      { kind: "uuid", encoding: "utf8" },
      ["00112233-4455-6677-8899-AABBCCDDEEFF"],
      "uuid",
      ["00112233-4455-6677-8899-aabbccddeeff"],
    ],
    [
      "bytes",
      { type: "string", contentEncoding: "base64" },
      { kind: "binary", encoding: "binary" },
      [uuid, Buffer.alloc(0)],
      "bytea",
      ["\\x00112233445566778899aabbccddeeff", "\\x"],
    ],
    [
      "bytes as base64",
      { type: "string", contentEncoding: "base64" },
      { kind: "binary", encoding: "utf8" },
      ["ABEi", ""],
      "bytea",
      ["\\x001122", "\\x"],
    ],
    [
      "texts",
      { type: "string" },
      { kind: "text", encoding: "utf8" },
      ["", "é\t\\N\n", "x".repeat(100)],
      "text",
      ["", "é\t\\N\n", "x".repeat(100)],
    ],
    [
      "JSON",
      {},
      { kind: "json", encoding: "json" },
      ['{"a":[1,12345678901234567890.5]}', '"x"', "null", "12"],
      "jsonb",
      ['{"a": [1, 12345678901234567890.5]}', '"x"', "null", "12"],
    ],
  ])("%s", async (_name, schema, options, values, type, texts) => {
    const table = await writeBatches({ v: schema }, [[columnOf("v", options, [...values, null])]]);
    expect(await typeOf(table)).toBe(type);
    expect(await textsOf(table)).toEqual([...texts, null]);
  });

  test("a column that cannot hold a later value is widened, and the rows before keep theirs", async () => {
    const integer = (values: Values, encoding: "int32" | "int64" | "number") => [
      columnOf("v", { kind: "integer", encoding }, values),
    ];
    const table = await writeBatches({ v: { type: "integer", format: "int16" } }, [
      integer([1, -2], "int32"),
      integer([2n ** 40n], "int64"),
      integer(["123456789012345678901234567890"], "number"),
      integer([4], "int32"),
    ]);
    expect(await typeOf(table)).toBe("numeric");
    expect(await textsOf(table)).toEqual([
      "1",
      "-2",
      String(2n ** 40n),
      "123456789012345678901234567890",
      "4",
    ]);
  });

  test("what a typed column cannot read makes it text, in the middle of a job too", async () => {
    const at = (...values: string[]) => [
      columnOf("v", { kind: "timestamptz", encoding: "utf8" }, values),
    ];
    const table = await writeBatches({ v: timestamptz }, [at("2024-01-01T00:00:00Z"), at("soon")]);
    expect(await typeOf(table)).toBe("text");
    expect(await textsOf(table)).toEqual(["2024-01-01T00:00:00.000000Z", "soon"]);
  });

  test("NUL and halves of characters, which PostgreSQL has not, are replaced and noted", async () => {
    const table = await writeBatches({ v: { type: "string" }, j: {} }, [
      [
        columnOf("v", { kind: "text", encoding: "utf8" }, ["a\0b", "c"]),
        columnOf("j", { kind: "json", encoding: "json" }, ['"\\u0000"', '{"a":"\\ud800"}']),
      ],
    ]);
    expect(await textsOf(table)).toEqual(["a\ufffdb", "c"]);
    expect(await textsOf(table, "j")).toEqual(['"\ufffd"', '{"a": "\ufffd"}']);
    expect(
      (await textsOf(table, "_svc_meta")).map((meta) => JSON.parse(String(meta))),
    ).toMatchObject([
      { changes: [{ field: "v", change: "REPLACED" }, { field: "j" }] },
      { changes: [{ field: "j" }] },
    ]);
  });

  test("what a row has lost stands beside it, and rows have ids that rise, and their job", async () => {
    const table = await writeBatches(
      { v: { type: "integer" } },
      [[columnOf("v", { kind: "integer", encoding: "int64" }, [1n, null, 3n])]],
      [{ row: 1, fields: ["v"] }],
    );
    const [meta] = (await textsOf(table, "_svc_meta")).filter((text) => text !== null);
    expect(JSON.parse(String(meta))).toEqual({
      changes: [{ field: "v", change: "NULLED", reason: "SOURCE_SERIALIZATION_ERROR" }],
    });
    expect(await textsOf(table, "_svc_job_id")).toEqual(["job_1", "job_1", "job_1"]);
    const ids = (
      await place.sql(`SELECT _svc_id::text FROM ${table} ORDER BY v NULLS FIRST`)
    ).flat();
    expect(new Set(ids).size).toBe(3);
    expect(ids.every((id) => /^[0-9a-f]{8}-[0-9a-f]{4}-7/.test(String(id)))).toBe(true);
    const [extracted] = (
      await place.sql(
        `SELECT DISTINCT abs(extract(epoch FROM now() - _svc_extracted_at)) < 600 FROM ${table}`,
      )
    ).flat();
    expect(String(extracted)).toMatch(/^t/);
  });

  test("numbers of any size and sign are the server's own", async () => {
    const numbers = fc
      .sample(
        fc.record({
          sign: fc.constantFrom("", "-"),
          whole: fc.bigInt({ min: 0n, max: 10n ** 40n }),
          fraction: fc.stringMatching(/^\d{0,30}$/),
          power: fc.option(fc.integer({ min: -40, max: 40 }), { nil: undefined }),
        }),
        { numRuns: 400, seed: 7 },
      )
      .map(
        ({ sign, whole, fraction, power }) =>
          `${sign}${whole}${fraction && `.${fraction}`}${power === undefined ? "" : `e${power}`}`,
      );
    const table = await writeBatches({ v: { type: "number", airbyte_type: "big_number" } }, [
      [columnOf("v", { kind: "number", encoding: "number" }, numbers)],
    ]);
    const own = (
      await place.sql(
        `SELECT n::numeric::text FROM unnest(ARRAY[${numbers.map((number) => `'${number}'`).join(",")}]) WITH ORDINALITY AS u(n, at) ORDER BY at`,
      )
    ).flat();
    expect(await textsOf(table)).toEqual(own);
  });
});
