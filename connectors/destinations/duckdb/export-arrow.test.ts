import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Table, tableFromIPC } from "apache-arrow";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openDatabase } from "./database.ts";
import { exportArrow } from "./export-arrow.ts";

let folder: string;
let fileCount = 0;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-arrow-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** The table that the statement makes, as a file. */
async function exported(create: string): Promise<Table> {
  const path = join(folder, `${fileCount++}.duckdb`);
  {
    await using database = await openDatabase(path);
    const connection = await database.connect();
    await connection.run(create);
    connection.closeSync();
  }
  const file = `${path}.arrow`;
  await exportArrow(path, '"main"."t"', file);
  return tableFromIPC(await readFile(file));
}

const typesOf = ({ schema }: Table) =>
  Object.fromEntries(schema.fields.map(({ name, type }) => [name, String(type)]));
const column = (table: Table, name: string) => [...(table.getChild(name) ?? [])];
/** The values themselves, as the file has them. */
const raw = (table: Table, name: string) =>
  (table.getChild(name)?.data ?? []).flatMap(({ values, length, stride }) => [
    ...values.subarray(0, length * stride),
  ]);

test("every type has its own in Arrow, and every value its bits", async () => {
  const table = await exported(`CREATE TABLE t AS SELECT * FROM (VALUES
    (true, '-32768'::SMALLINT, '-2147483648'::INTEGER, '-9223372036854775808'::BIGINT, 0.1::DOUBLE,
     DATE '0044-03-15 (BC)', TIME '24:00:00', TIMESTAMP '1969-12-31 23:59:59.999999',
     TIMESTAMPTZ '2024-01-01 00:00:00.000001+00', UUID '00112233-4455-6677-8899-aabbccddeeff',
     '\\xDE\\xAD'::BLOB, 'twelve bytes', '{"a":1}'::JSON),
    (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
    (false, 32767, 2147483647, 9223372036854775807, 'NaN', 'infinity', '00:00:00.000001',
     'infinity', '-infinity', 'ffffffff-ffff-ffff-ffff-ffffffffffff', '', 'thirteen byte', '[]')
  ) v(bool, int2, int4, int8, double, date, time, ts, tstz, uuid, blob, text, json)`);
  expect(typesOf(table)).toEqual({
    bool: "Bool",
    int2: "Int16",
    int4: "Int32",
    int8: "Int64",
    double: "Float64",
    date: "Date32<DAY>",
    time: "Time64<MICROSECOND>",
    ts: "Timestamp<MICROSECOND>",
    tstz: "Timestamp<MICROSECOND, UTC>",
    uuid: "FixedSizeBinary[16]",
    blob: "Binary",
    text: "Utf8",
    json: "Utf8",
  });
  expect(column(table, "bool")).toEqual([true, null, false]);
  expect(column(table, "int2")).toEqual([-32768, null, 32767]);
  expect(column(table, "int4")).toEqual([-2147483648, null, 2147483647]);
  expect(column(table, "int8")).toEqual([-(2n ** 63n), null, 2n ** 63n - 1n]);
  expect(column(table, "double")).toEqual([0.1, null, Number.NaN]);
  expect(raw(table, "date")).toEqual([-735160, 0, 2 ** 31 - 1]);
  expect(raw(table, "time")).toEqual([86_400_000_000n, 0n, 1n]);
  expect(raw(table, "ts")).toEqual([-1n, 0n, 2n ** 63n - 1n]);
  expect(raw(table, "tstz")).toEqual([1_704_067_200_000_001n, 0n, -(2n ** 63n - 1n)]);
  const hex = (value: unknown) => value && Buffer.from(value as Uint8Array).toString("hex");
  expect(column(table, "uuid").map(hex)).toEqual([
    "00112233445566778899aabbccddeeff",
    null,
    "f".repeat(32),
  ]);
  expect(column(table, "blob").map(hex)).toEqual(["dead", null, ""]);
  expect(column(table, "text")).toEqual(["twelve bytes", null, "thirteen byte"]);
  expect(column(table, "json")).toEqual(['{"a":1}', null, "[]"]);
});

const unscaled = (words: unknown) =>
  words === null
    ? null
    : [...(words as Uint32Array)].reduceRight(
        (sum, word, index, all) =>
          (sum << 32n) | (index === all.length - 1 ? BigInt(word | 0) : BigInt(word)),
        0n,
      );

test.each([
  ["DECIMAL(4,2)", "Decimal[4e+2]", "99.99", 9999n],
  ["DECIMAL(9,0)", "Decimal[9e0]", "999999999", 999_999_999n],
  ["DECIMAL(18,6)", "Decimal[18e+6]", "999999999999.999999", 10n ** 18n - 1n],
  ["DECIMAL(38,10)", "Decimal[38e+10]", `${"9".repeat(28)}.${"9".repeat(10)}`, 10n ** 38n - 1n],
  ["HUGEINT", "Decimal[38e0]", "9".repeat(38), 10n ** 38n - 1n],
  ["HUGEINT", "Decimal[39e0]", String(2n ** 127n - 1n), 2n ** 127n - 1n],
])("%s is %s, with every digit", async (type, arrowType, text, expected) => {
  const table = await exported(
    `CREATE TABLE t AS SELECT unnest(['${text}', NULL, '-${text}'])::${type} AS n`,
  );
  expect(typesOf(table)).toEqual({ n: arrowType });
  expect(column(table, "n").map(unscaled)).toEqual([expected, null, -expected]);
});

test("intervals have nanoseconds, or are text where 64 bits have no room for them", async () => {
  const rows = (last: string) => `CREATE TABLE t AS SELECT unnest([
    INTERVAL '-14 months 3 days -04:05:06.5', NULL, INTERVAL '${last}']) AS v`;
  const short = await exported(rows("2562046:59:59.999999"));
  expect(typesOf(short)).toEqual({ v: "Interval<MONTH_DAY_NANO>" });
  const parts = column(short, "v").map((words: Int32Array | null) => {
    const view = words && new DataView(words.buffer, words.byteOffset, 16);
    return view && [view.getInt32(0, true), view.getInt32(4, true), view.getBigInt64(8, true)];
  });
  expect(parts).toEqual([
    [-14, 3, -14_706_500_000_000n],
    null,
    [0, 0, 9_223_369_199_999_999_000n + 0n],
  ]);
  const long = await exported(rows("2562047:00:00"));
  expect(typesOf(long)).toEqual({ v: "Utf8" });
  expect(column(long, "v")).toEqual(["P-1Y-2M3DT-4H-5M-6.5S", null, "PT2562047H"]);
});

test("rows keep their order over many batches, and no text becomes another's", async () => {
  const table = await exported(`CREATE TABLE t AS
    SELECT i, CASE WHEN i % 7 = 0 THEN NULL ELSE repeat(chr((97 + i % 26)::INT), i % 40) END AS text,
      i % 3 = 0 AS bool, CASE WHEN i % 5 = 0 THEN NULL ELSE i END AS n
    FROM range(150001) r(i) WHERE i % 11 <> 0`);
  expect(table.batches.length).toBeGreaterThan(2);
  const expected = Array.from({ length: 150_001 }, (_, i) => i).filter((i) => i % 11 !== 0);
  expect(raw(table, "i").map(Number)).toEqual(expected);
  expect(column(table, "text")).toEqual(
    expected.map((i) => (i % 7 === 0 ? null : String.fromCharCode(97 + (i % 26)).repeat(i % 40))),
  );
  expect(column(table, "bool")).toEqual(expected.map((i) => i % 3 === 0));
  expect(column(table, "n")).toEqual(expected.map((i) => (i % 5 === 0 ? null : BigInt(i))));
});

test("under a null lies nothing of what the memory held", async () => {
  const table = await exported(`CREATE TABLE t AS
    SELECT CASE WHEN i < 3000 THEN i + 7000000 END AS n, CASE WHEN i < 3000 THEN uuid() END AS id
    FROM range(9000) r(i)`);
  expect(raw(table, "n").filter((value) => value !== 0n)).toHaveLength(3000);
  const bytes = Buffer.from(raw(table, "id") as number[]);
  expect(bytes.subarray(3000 * 16).equals(Buffer.alloc(6000 * 16))).toBe(true);
});

test("large texts make small batches", async () => {
  const table = await exported(
    "CREATE TABLE t AS SELECT repeat(chr(97 + i::INT), 3000000) AS text FROM range(10) r(i)",
  );
  expect(table.batches.map(({ numRows }) => numRows)).toEqual([3, 3, 3, 1]);
  expect(column(table, "text").map((text) => [text[0], text.length])).toEqual(
    [..."abcdefghij"].map((letter) => [letter, 3_000_000]),
  );
});

test("a table without rows is a file with its columns", async () => {
  const table = await exported('CREATE TABLE t ("a ""b" INTEGER, list INTEGER[])');
  expect(typesOf(table)).toEqual({ 'a "b': "Int32", list: "Utf8" });
  expect(table.numRows).toBe(0);
});

test("a file that cannot be put in its place leaves nothing", async () => {
  const path = join(folder, `${fileCount++}.duckdb`);
  await using database = await openDatabase(path);
  const connection = await database.connect();
  await connection.run("CREATE TABLE t AS SELECT 1 AS n");
  connection.closeSync();
  await expect(exportArrow(path, '"t"', join(folder, "missing", "t.arrow"))).rejects.toMatchObject({
    code: "OUTPUT_FAILED",
  });
  expect(await readdir(database.stageFolder)).toEqual([]);
});
