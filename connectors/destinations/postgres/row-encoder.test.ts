import fc from "fast-check";
import { expect, test } from "vitest";
import { createRowEncoder } from "./row-encoder.ts";
import { createRowIds } from "./row-ids.ts";
import type { ColumnType } from "./types.ts";

function encoderOf(types: Readonly<Record<string, ColumnType>>) {
  const columns = Object.entries(types).map(([property, type]) => ({
    property,
    name: property,
    type,
  }));
  const ids = createRowIds(1_700_000_000_000);
  const encoder = createRowEncoder({ columns, jobId: "job\t1", nextId: ids.next });
  return {
    columns,
    /**
     * The fields of each row, as the server reads them.
     * @see "File Formats" of COPY in PostgreSQL's manual
     */
    encode(...lines: string[]) {
      const text = encoder
        .encode(Buffer.from(`${lines.join("\n")}\n`), "2026-01-01T00:00:00Z")
        .toString();
      expect(text).not.toContain("\r"); // the server refuses one that is not escaped
      const fields = (row: string) => row.split("\t");
      const value = (field: string) =>
        field === "\\N" ? null : field.replace(/\\(.)/g, toCharacter);
      return text
        .split("\n")
        .slice(0, -1)
        .map((row) => fields(row).map(value));
    },
  };
}

const toCharacter = (_: string, letter: string) =>
  ({ n: "\n", r: "\r", t: "\t" })[letter] ?? letter;

/** The text as PostgreSQL can keep it. */
const storable = (text: string) => text.toWellFormed().replaceAll("\0", "\ufffd");

test("any text comes through unchanged, whatever it holds", () => {
  const text = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.string({ unit: fc.constantFrom("\\", "\t", "\n", "\r", "N", ".", "\0", "\ud800", "😀") }),
  );
  fc.assert(
    fc.property(fc.array(text, { minLength: 1, maxLength: 5 }), (texts) => {
      const { encode } = encoderOf({ a: "text", b: "jsonb" });
      const rows = encode(...texts.map((value) => JSON.stringify({ a: value, b: [value] })));
      expect(rows.map(([a]) => a)).toEqual(texts.map(storable));
      expect(rows.map(([, b]) => JSON.parse(b ?? ""))).toEqual(
        texts.map((value) => [storable(value)]),
      );
    }),
  );
});

test("any JSON comes through unchanged, and into every type: what does not fit widens its column", () => {
  const types: readonly ColumnType[] = [
    "boolean",
    "bigint",
    "numeric",
    "double precision",
    "timestamp with time zone",
    "timestamp without time zone",
    "date",
    "text",
    "jsonb",
  ];
  const value = fc.oneof(
    fc.jsonValue(),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc
      .bigInt()
      .map(String)
      .map((digits) => ({ digits })),
  );
  fc.assert(
    fc.property(fc.array(value, { maxLength: 5 }), fc.constantFrom(...types), (values, type) => {
      const { encode, columns } = encoderOf({ a: type });
      const jsonOf = (one: unknown) =>
        typeof one === "object" && one !== null && "digits" in one
          ? String(one.digits)
          : JSON.stringify(one);
      const rows =
        values.length === 0 ? [] : encode(...values.map((one) => `{"a":${jsonOf(one)}}`));
      for (const [index, [a]] of rows.entries()) {
        const json = jsonOf(values[index]);
        const given = JSON.parse(json) as unknown;
        if (given === null) expect(a).toBeNull();
        else if (columns[0]?.type === "jsonb")
          expect(JSON.parse(a ?? "")).toEqual(JSON.parse(storable(json)));
        else if (typeof given === "string")
          expect(a === storable(given) || !Number.isNaN(Date.parse(given))).toBe(true);
        else if (typeof given === "number") expect(a === json || Number(a) === given).toBe(true);
        else expect(JSON.parse(a ?? "")).toEqual(given);
      }
    }),
  );
});

test.each<[ColumnType, string, ColumnType, string]>([
  ["bigint", "9223372036854775807", "bigint", "9223372036854775807"],
  ["bigint", "9223372036854775808", "numeric", "9223372036854775808"],
  ["bigint", "1.5", "numeric", "1.5"],
  ["bigint", '"1"', "text", "1"],
  [
    "numeric",
    "1.10000000000000000000000000000001",
    "numeric",
    "1.10000000000000000000000000000001",
  ],
  ["numeric", "1e400", "numeric", "1e400"],
  ["numeric", "1e99999", "text", "1e99999"],
  ["double precision", "0.1", "double precision", "0.1"],
  ["double precision", "-0", "double precision", "-0"],
  ["double precision", "1e-400", "numeric", "1e-400"],
  ["double precision", "0.12345678901234567890", "numeric", "0.12345678901234567890"],
  ["double precision", "9007199254740993", "numeric", "9007199254740993"],
  ["boolean", "true", "boolean", "true"],
  ["boolean", "1", "text", "1"],
  ["date", '"2024-02-29"', "date", "2024-02-29"],
  ["date", '"2023-02-29"', "text", "2023-02-29"],
  ["date", '"0000-01-01"', "date", "0001-01-01 BC"],
  ["date", '"infinity"', "text", "infinity"],
  [
    "timestamp with time zone",
    '"2024-01-01T23:59:60Z"',
    "timestamp with time zone",
    "2024-01-01T23:59:60Z",
  ],
  [
    "timestamp with time zone",
    '"2024-01-01T00:00:00.5+23:30"',
    "timestamp with time zone",
    "2023-12-31T00:30:00.5Z",
  ],
  ["timestamp with time zone", '"2024-01-01T24:00:00Z"', "text", "2024-01-01T24:00:00Z"],
  ["timestamp with time zone", '"now"', "text", "now"],
  [
    "timestamp with time zone",
    '"0000-01-01T00:00:00+01:00"',
    "timestamp with time zone",
    "0001-01-01T00:00:00+01:00 BC",
  ],
  [
    "timestamp without time zone",
    '"2024-01-01T00:00:00.123456+02:00"',
    "timestamp without time zone",
    "2023-12-31T22:00:00.123456",
  ],
  ["jsonb", "[12345678901234567890]", "jsonb", "[12345678901234567890]"],
  ["jsonb", "[1e99999]", "text", "[1e99999]"],
  ["text", '{"a":1}', "text", '{"a":1}'],
])("%s takes %s as %s", (type, json, wanted, expected) => {
  const { encode, columns } = encoderOf({ a: type });
  expect(encode(`{"a":${json}}`)[0]?.[0]).toBe(expected);
  expect(columns[0]?.type).toBe(wanted);
});

test("absent, null and inherited properties are NULL; the row's own columns follow", () => {
  const { encode } = encoderOf({ a: "text", toString: "text", constructor: "jsonb" } as never);
  const [row] = encode('{"a":null}');
  expect(row?.slice(0, 3)).toEqual([null, null, null]);
  expect(row?.slice(4)).toEqual(["2026-01-01T00:00:00Z", "job\t1", null]);
});

test("what had to be replaced is noted beside what the filter noted", () => {
  const { encode } = encoderOf({ a: "text", b: "jsonb" });
  const noted = { field: "c", change: "NULLED", reason: "SOURCE_SERIALIZATION_ERROR" };
  const [row, next] = encode(
    `{"a":"x\\u0000","b":{"\\ud800":1},"_svc_meta":{"changes":[${JSON.stringify(noted)}]}}`,
    '{"a":"y\\\\u0000","b":"\\\\u0000"}',
  );
  const replaced = { change: "REPLACED", reason: "DESTINATION_SERIALIZATION_ERROR" };
  expect(JSON.parse(row?.at(-1) ?? "")).toEqual({
    changes: [noted, { field: "a", ...replaced }, { field: "b", ...replaced }],
  });
  expect(next?.at(-1)).toBeNull();
  expect(next?.slice(0, 2)).toEqual(["y\\u0000", '"\\\\u0000"']);
});

test("ids are UUIDs of version 7, each larger than the one before, also when the clock goes back", () => {
  const ids = createRowIds(1_700_000_000_000);
  const given = Array.from({ length: 5_000_000 / 1_000 }, (_, index) => {
    if (index % 100 === 0) ids.at(1_700_000_000_000 + (index % 1_000) - 500);
    return ids.next();
  });
  expect(
    given.every((id) =>
      /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id),
    ),
  ).toBe(true);
  expect([...new Set(given)].sort()).toEqual(given);
});
