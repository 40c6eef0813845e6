import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { columnOf } from "../../fixtures/batches.ts";
import { type Column, endlessDay, endlessInstant, isValid } from "../contract/batch.ts";
import { canonicalNumber, createBatchHasher } from "./hash-columns.ts";
import { createLineRenderer } from "./render-lines.ts";

const key = Buffer.from("a key of a workspace, 32 bytes..");
const hmac = (text: string | Uint8Array) => createHmac("sha256", key).update(text).digest("hex");
const uuid = Buffer.from("00112233445566778899aabbccddeeff", "hex");

/** The texts that a column leaves as, all its rows but the nulls. */
function hashesOf(column: Column): (string | null)[] {
  const rowCount = "offsets" in column ? column.offsets.length - 1 : 4;
  const batch = { rowCount, columns: [column], notes: [] };
  const [hashed] = createBatchHasher([column.name], key)(batch).columns;
  if (hashed?.encoding !== "utf8" || hashed.kind !== "text") throw new Error("no text");
  return Array.from({ length: rowCount }, (_, row) =>
    isValid(hashed, row)
      ? Buffer.from(hashed.bytes).toString("utf8", hashed.offsets[row], hashed.offsets[row + 1])
      : null,
  );
}

test.each<[Column, (string | Uint8Array | null)[]]>([
  [
    columnOf("x", { kind: "text", encoding: "utf8" }, ["a@b.c", "", null, 'é "\\\n']),
    ["a@b.c", "", null, 'é "\\\n'],
  ],
  [
    columnOf("x", { kind: "integer", encoding: "int32" }, [0, -7, null, 2_147_483_647]),
    ["0", "-7", null, "2147483647"],
  ],
  [
    columnOf("x", { kind: "integer", encoding: "int64" }, [1n, -(2n ** 63n), null, 2n ** 53n + 1n]),
    ["1", "-9223372036854775808", null, "9007199254740993"],
  ],
  [
    columnOf("x", { kind: "number", encoding: "decimal64", scale: 2 }, [150n, -5n, null, 100n]),
    ["1.5", "-0.05", null, "1"],
  ],
  [
    columnOf("x", { kind: "number", encoding: "decimal128", scale: 3 }, [
      10n ** 37n + 1n,
      -1n,
      0n,
      null,
    ]),
    [`1${"0".repeat(34)}.001`, "-0.001", "0", null],
  ],
  [
    columnOf("x", { kind: "number", encoding: "float64" }, [0.1, -0, Number.NaN, null]),
    ["0.1", "0", "NaN", null],
  ],
  [
    columnOf("x", { kind: "number", encoding: "number" }, ["1.50", "-Infinity", "1e400", null]),
    ["1.5", "-Infinity", "1e400", null],
  ],
  [
    columnOf("x", { kind: "boolean", encoding: "bool" }, [true, false, null, true]),
    ["true", "false", null, "true"],
  ],
  [
    columnOf("x", { kind: "date", encoding: "date32" }, [0, endlessDay, -719_163, null]),
    ["1970-01-01", "infinity", "day -719163", null],
  ],
  [
    columnOf("x", { kind: "time", encoding: "time64" }, [0n, 1_500_000n, null, 0n]),
    ["00:00:00", "00:00:01.5", null, "00:00:00"],
  ],
  [
    columnOf("x", { kind: "timestamptz", encoding: "timestamp64" }, [
      0n,
      -endlessInstant,
      253_402_300_800_000_000n,
      null,
    ]),
    ["1970-01-01T00:00:00Z", "-infinity", "microsecond 253402300800000000", null],
  ],
  [
    columnOf("x", { kind: "uuid", encoding: "uuid128" }, [uuid, null, uuid, uuid]),
    [
      "00112233-4455-6677-8899-aabbccddeeff",
      null,
      "00112233-4455-6677-8899-aabbccddeeff",
      "00112233-4455-6677-8899-aabbccddeeff",
    ],
  ],
  [
    columnOf("x", { kind: "binary", encoding: "binary" }, [uuid, Buffer.alloc(0), null, null]),
    [uuid.toString("base64"), "", null, null],
  ],
  [
    columnOf("x", { kind: "json", encoding: "json" }, ['{"a":[1]}', '"a@b.c"', null, '"\\u0000"']),
    ['{"a":[1]}', "a@b.c", null, '"\\u0000"'],
  ],
])("a column of kind $kind, $encoding, leaves as hashes of its texts, null as null", (column, texts) => {
  expect(hashesOf(column)).toEqual(texts.map((text) => (text === null ? null : hmac(text))));
});

test("what stands beside a hashed column stays as it is, and a line has the hash as a text", () => {
  const columns = [
    columnOf("id", { kind: "integer", encoding: "int32", isNullable: false, isKey: true }, [1, 2]),
    columnOf("age", { kind: "integer", encoding: "int32" }, [7, null]),
  ];
  const notes = [{ row: 1, fields: ["age"] }];
  const hashed = createBatchHasher(["age"], key)({ rowCount: 2, columns, notes });
  expect([hashed.columns[0], hashed.notes]).toEqual([columns[0], notes]);
  const lines = createLineRenderer({ name: "s" }, "rows")(hashed, 0).lines.toString().split("\n");
  expect(JSON.parse(lines[0] ?? "")).toEqual({ id: 1, age: hmac("7") });
  expect(JSON.parse(lines[1] ?? "")).toMatchObject({ id: 2, age: null });
});

test("another key gives other hashes", () => {
  const columns = [columnOf("x", { kind: "text", encoding: "utf8" }, ["a"])];
  const [one, other] = [key, Buffer.from("another key")].map(
    (secret) => createBatchHasher(["x"], secret)({ rowCount: 1, columns, notes: [] }).columns[0],
  );
  expect(one).not.toEqual(other);
});

test.each([
  ["100.00", "100"],
  ["0.000", "0"],
  ["-0", "0"],
  ["001.10", "1.1"],
  ["1.5e3", "1500"],
  ["15e-1", "1.5"],
  ["-1.2E-3", "-0.0012"],
  ["10e400", "1e401"],
  ["1e401", "1e401"],
  ["NaN", "NaN"],
])("%s and its other spellings are one number: %s", (text, canonical) => {
  expect(canonicalNumber(text)).toBe(canonical);
});
