/** The filter on columns: what it promises of lines, and what lies in columns alone. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { columnOf } from "../../fixtures/batches.ts";
import { batchOfRows, linesOfBatch } from "../../fixtures/rows-as-batch.ts";
import { choose } from "../../tests/effort.ts";
import type { Batch, Column } from "../contract/batch.ts";
import { secretViews } from "./secret-views.ts";
import { createSecretRegistry, type SecretRegistry } from "./secrets.ts";

const plainCanary = "q7Zt3LmX9aRk2VwB8nYc5HdJ4sPf6GxT1uKeQ0iNoMrWb";
const hardCanary = 'Ab"3\\x/9+K=7&m%Q2\nz5é8Tr"Wd\\4/Lp+6=Yh&1%Vc0\néJ';

const registryOf = (...secrets: string[]) => {
  const registry = createSecretRegistry();
  for (const secret of secrets) registry.add(secret);
  return registry;
};
const batchOf = (...columns: Column[]): Batch => {
  const [first] = columns;
  const rowCount = first && "offsets" in first ? first.offsets.length - 1 : rowsOf(first);
  return { rowCount, columns, notes: [] };
};
const rowsOf = (column: Column | undefined) =>
  column && "values" in column
    ? column.values.length / (/uuid|128/.test(column.encoding) ? 16 : 1)
    : 0;
/** Rows of the batch after the filter. */
const redact = (registry: SecretRegistry, batch: Batch): unknown[] =>
  linesOfBatch(registry.redactBatch(batch))
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
const texts = (...values: (string | null)[]) =>
  columnOf("a", { kind: "text", encoding: "utf8" }, values);
const json = (...values: (string | null)[]) =>
  columnOf("a", { kind: "json", encoding: "json" }, values);
const lost = { changes: [{ field: "a", change: "NULLED", reason: "SOURCE_SERIALIZATION_ERROR" }] };
const leak = expect.objectContaining({ code: "LEAK_BLOCKED" });

test("a clean batch comes back as it is", () => {
  const batch = batchOf(texts("a", null, "é"), json("1", "[]", null));
  const registry = registryOf(plainCanary, "hunter2x", "abc", "2024-01-15T10:00", "123456789012");
  expect(registry.redactBatch(batch)).toBe(batch);
  expect(registry.hitCount).toBe(0);
});

test("the memory of a batch that holds a secret is not changed", () => {
  const uuid = Buffer.from("00112233445566778899aabbccddeeff", "hex");
  const column = columnOf("u", { kind: "uuid", encoding: "uuid128" }, [uuid, null, uuid]);
  const batch = batchOf(texts(plainCanary, null, "x"), column);
  const before = structuredClone(batch);
  const registry = registryOf(plainCanary, "00112233-4455-6677-8899-aabbccddeeff");
  expect(registry.redactBatch(batch)).not.toBe(batch);
  expect(registry.hitCount).toBe(3);
  expect(structuredClone(batch)).toEqual(before);
});

describe("in a text", () => {
  test("only the value that holds a secret is replaced", () => {
    const registry = registryOf(plainCanary);
    const rows = redact(registry, batchOf(texts("x", `is ${plainCanary}!`, null, "", "y")));
    expect(rows).toEqual([{ a: "x" }, { a: "[redacted]" }, { a: null }, { a: "" }, { a: "y" }]);
    expect(registry.hitCount).toBe(1);
  });

  test("a secret in pieces over rows is found, and each of its values replaced", () => {
    for (const size of [1, 3, 9]) {
      const pieces = plainCanary.match(new RegExp(`.{1,${size}}`, "g")) ?? [];
      const rows = redact(registryOf(plainCanary), batchOf(texts("~~", ...pieces, "~~")));
      const redacted = pieces.map(() => ({ a: "[redacted]" }));
      expect(rows).toEqual([{ a: "~~" }, ...redacted, { a: "~~" }]);
    }
  });

  test("nulls and empty texts between the pieces hide nothing, and stay", () => {
    const [first, second] = [plainCanary.slice(0, 8), plainCanary.slice(8, 16)];
    const rows = redact(registryOf(plainCanary), batchOf(texts(first, null, "", second)));
    expect(rows).toEqual([{ a: "[redacted]" }, { a: null }, { a: "" }, { a: "[redacted]" }]);
  });

  test("what is fewer than ten characters in a row of columns, or of batches, stays as in lines", () => {
    const [first, second] = [plainCanary.slice(0, 9), plainCanary.slice(9, 18)];
    const registry = registryOf(plainCanary);
    const batch = batchOf(texts(first, "~"), { ...texts(second, "~"), name: "b" });
    expect(registry.redactBatch(batch)).toBe(batch);
    for (const one of [batchOf(texts("~", first)), batchOf(texts(second, "~"))])
      expect(registry.redactBatch(one)).toBe(one);
    const line = Buffer.from(`${JSON.stringify({ a: first, b: second })}\n`);
    expect(registry.redactLines(line)).toBe(line);
  });

  test("escapes count in one value, not over the end of another", () => {
    const escaped = `%${Buffer.from(plainCanary).toString("hex").match(/../g)?.join("%")}`;
    for (const before of ["", "\\", "%", "%4", "&am", "&#6", "=", "=\r"])
      expect(redact(registryOf(plainCanary), batchOf(texts(before, escaped, before)))).toEqual([
        { a: before },
        { a: "[redacted]" },
        { a: before },
      ]);
  });

  test("a backslash at the end of a text does not hide the one escape of the next", () => {
    const secret = "abcdefghij";
    const rows = redact(registryOf(secret), batchOf(texts("\\", "\\u0061bcdefghij", "x")));
    expect(rows).toEqual([{ a: "\\" }, { a: "[redacted]" }, { a: "x" }]);
  });

  test("a short secret is found as a whole value, whatever stands in the next row", () => {
    const rows = redact(
      registryOf("abc", "hunter2x"),
      batchOf(texts("x", "abc", "y", "hunter2x", "z")),
    );
    expect(rows).toEqual(["x", "[redacted]", "y", "[redacted]", "z"].map((a) => ({ a })));
    expect(redact(registryOf("abc"), batchOf(texts(" abc\n", "\u00a0abc")))).toEqual([
      { a: "[redacted]" },
      { a: "[redacted]" },
    ]);
    const clean = batchOf(texts("ab", "c", "hunter", "2x", "xabc", "abcx", "hunter2xx"));
    expect(registryOf("abc", "hunter2x").redactBatch(clean)).toBe(clean);
  });
});

describe("in JSON", () => {
  test("only the strings and names inside that hold it are replaced; numbers keep their text", () => {
    const registry = registryOf(plainCanary);
    const value = `{"n":1.50,"s":["${plainCanary}","ok"],"${plainCanary}":9007199254740993}`;
    const batch = registry.redactBatch(batchOf(json("1.50", value, null, '"x"')));
    expect(linesOfBatch(batch).split("\n")).toEqual([
      '{"a":1.50}',
      '{"a":{"n":1.50,"s":["[redacted]","ok"],"[redacted]":9007199254740993}}',
      '{"a":null}',
      '{"a":"x"}',
      "",
    ]);
    expect(registry.hitCount).toBe(2);
  });

  test("what is no string is null, with a note: a list of bytes, digits over two rows", () => {
    const bytes = JSON.stringify([...Buffer.from(plainCanary)]);
    expect(redact(registryOf(plainCanary), batchOf(json("1", bytes, "2")))).toEqual([
      { a: 1 },
      { a: null, _svc_meta: lost },
      { a: 2 },
    ]);
    const digits = batchOf(json("[]", "1234567890", "9876543210", "[]"));
    expect(redact(registryOf("key-12345678909876543210-x"), digits)).toEqual([
      { a: [] },
      { a: null, _svc_meta: lost },
      { a: null, _svc_meta: lost },
      { a: [] },
    ]);
  });

  test("a value that is a short secret as a string, not as a name or a number", () => {
    const batch = batchOf(json('"abc"', '{"abc":"abc"}', '["xabc"]', "12345"));
    expect(redact(registryOf("abc", "12345"), batch)).toEqual([
      { a: "[redacted]" },
      { a: { abc: "[redacted]" } },
      { a: ["xabc"] },
      { a: 12_345 },
    ]);
  });
});

describe("in values that are no text", () => {
  const uuid = Buffer.from("a1b2c3d4445566778899aabbccddeeff", "hex");
  const other = Buffer.from("0123456789abcdef0f1e2d3c4b5a6978", "hex");
  const key = "k-a1b2c3d4-4455-6677-8899-aabbccddeeff";
  const cases: Record<string, [secret: string, column: Column]> = {
    "a UUID": [key, columnOf("a", { kind: "uuid", encoding: "uuid128" }, [other, uuid])],
    "half a UUID": [
      key.slice(0, 15),
      columnOf("a", { kind: "uuid", encoding: "uuid128" }, [other, uuid]),
    ],
    "a short secret in a UUID": [
      "a1b2c3d4",
      columnOf("a", { kind: "uuid", encoding: "uuid128" }, [other, uuid]),
    ],
    "a UUID as a text": [
      key,
      columnOf("a", { kind: "uuid", encoding: "utf8" }, ["x", key.slice(2)]),
    ],
    bytes: [
      plainCanary,
      columnOf("a", { kind: "binary", encoding: "binary" }, [uuid, Buffer.from(plainCanary)]),
    ],
    "the base64 of bytes": [
      Buffer.from("any bytes \x00\xff of a key", "latin1").toString("base64"),
      columnOf("a", { kind: "binary", encoding: "binary" }, [
        uuid,
        Buffer.from("any bytes \x00\xff of a key", "latin1"),
      ]),
    ],
    "bytes of a short secret": [
      "hunter2x",
      columnOf("a", { kind: "binary", encoding: "binary" }, [uuid, Buffer.from("me:hunter2x")]),
    ],
    "bytes as a text": [
      plainCanary,
      columnOf("a", { kind: "binary", encoding: "utf8" }, ["x", plainCanary]),
    ],
    "a number of 64 bits": [
      "k-1234567890123456789",
      columnOf("a", { kind: "integer", encoding: "int64" }, [7n, 1234567890123456789n]),
    ],
    "a negative number": [
      "k-1234567890x",
      columnOf("a", { kind: "integer", encoding: "int32" }, [7, -1_234_567_890]),
    ],
    "a number as text": [
      "k12345678901234567890",
      columnOf("a", { kind: "number", encoding: "number" }, ["7", "12345678901234567890"]),
    ],
    "a double": [
      "k12345.678901x",
      columnOf("a", { kind: "number", encoding: "float64" }, [7, 12345.678901]),
    ],
    "a decimal": [
      "k12345.678901x",
      columnOf("a", { kind: "number", encoding: "decimal64", scale: 6 }, [7n, 12345678901n]),
    ],
    "a long decimal": [
      "k1234567890123456789012345x",
      columnOf("a", { kind: "number", encoding: "decimal128", scale: 0 }, [
        7n,
        1234567890123456789012345n,
      ]),
    ],
    "a date": [
      "born-2024-02-29x",
      columnOf("a", { kind: "date", encoding: "date32" }, [0, 19_782]),
    ],
    "a short secret in a date": [
      "2024-02",
      columnOf("a", { kind: "date", encoding: "date32" }, [0, 19_782]),
    ],
    "a time": [
      "x10:20:30.5y",
      columnOf("a", { kind: "time", encoding: "time64" }, [0n, 37_230_500_000n]),
    ],
    "a timestamp": [
      "2023-11-14T22:13:20.5Z",
      columnOf("a", { kind: "timestamptz", encoding: "timestamp64" }, [0n, 1_700_000_000_500_000n]),
    ],
    "a timestamp without a zone": [
      "xx-14T22:13:20.5-xx",
      columnOf("a", { kind: "timestamp", encoding: "timestamp64" }, [0n, 1_700_000_000_500_000n]),
    ],
  };

  test.each(Object.entries(cases))("%s is null, with a note", (_, [secret, column]) => {
    const registry = registryOf(secret);
    const [before] = redact(createSecretRegistry(), batchOf(column));
    const [first, second] = redact(registry, batchOf(column));
    expect([first, second]).toEqual([before, { a: null, _svc_meta: lost }]);
    expect(registry.hitCount).toBe(1);
  });

  test.each(Object.entries(cases))("%s ends the run where it is a key", (_, [secret, column]) => {
    expect(() => registryOf(secret).redactBatch(batchOf({ ...column, isKey: true }))).toThrow(leak);
  });

  test("bytes in pieces over rows are found", () => {
    const pieces = [uuid, ...[0, 8, 16].map((at) => Buffer.from(plainCanary.slice(at, at + 8)))];
    const column = columnOf("a", { kind: "binary", encoding: "binary" }, pieces);
    expect(redact(registryOf(plainCanary), batchOf(column)).slice(1)).toEqual(
      [0, 1, 2].map(() => ({ a: null, _svc_meta: lost })),
    );
  });

  test("fewer than sixteen digits are in all clean numbers, and a secret of digits alone is no number's", () => {
    const column = columnOf("a", { kind: "integer", encoding: "int64" }, [123456789012n, 5n]);
    const batch = batchOf(column);
    for (const secret of ["123456789012", "k123456789012", "5"])
      expect(registryOf(secret).redactBatch(batch)).toBe(batch);
  });
});

describe("notes", () => {
  const noted = (...fields: string[]): Batch => ({
    ...batchOf(texts("x", null)),
    notes: [{ row: 1, fields }],
  });

  test("a field's name that holds a secret is replaced, a column's name that is a short one is not", () => {
    const registry = registryOf(plainCanary, "a", "b.c");
    const { notes } = registry.redactBatch(noted("a", `x.${plainCanary}`, "b.c", "b"));
    expect(notes).toEqual([{ row: 1, fields: ["a", "[redacted]", "[redacted]", "b"] }]);
    expect(registry.hitCount).toBe(2);
  });

  test("what is lost now is noted beside what was lost before, in the order of the rows", () => {
    const bytes = columnOf("b", { kind: "binary", encoding: "binary" }, [
      Buffer.from(plainCanary),
      Buffer.from(plainCanary),
    ]);
    const { notes } = registryOf(plainCanary).redactBatch({
      ...noted("a"),
      columns: [texts("x", null), bytes],
    });
    expect(notes).toEqual([
      { row: 0, fields: ["b"] },
      { row: 1, fields: ["a", "b"] },
    ]);
  });
});

test("what comes together only when something between is gone is found too", () => {
  const [first, second] = [plainCanary.slice(0, 6), plainCanary.slice(6, 12)];
  const bytes = [first, plainCanary.slice(20, 40), second].map((text) => Buffer.from(text));
  const column = columnOf("a", { kind: "binary", encoding: "binary" }, bytes);
  expect(redact(registryOf(plainCanary), batchOf(column))).toEqual(
    bytes.map(() => ({ a: null, _svc_meta: lost })),
  );
});

test("a secret that is the replacement itself ends the run", () => {
  expect(() => registryOf("x[redacted]x").redactBatch(batchOf(texts("a [redacted] b")))).toThrow(
    leak,
  );
});

test("rows are the same rows after the filter, as lines and as columns", () => {
  const secrets = [plainCanary, hardCanary, "hunter2x", "abc", "123456789012"];
  const view = fc
    .constantFrom(...[plainCanary, hardCanary].flatMap(secretViews))
    .filter(({ name }) => name !== "UTF-16" && !/decimal bytes|typed array/.test(name))
    .map(({ bytes }) => Buffer.from(bytes).toString());
  const part = fc.oneof(
    fc.string(),
    view,
    fc.constantFrom("hunter2x", "abc", "123456789012", "%61bc"),
  );
  const text = fc.array(part, { maxLength: 3 }).map((parts) => parts.join("_"));
  const value = fc.oneof(
    text,
    fc.constantFrom(null, true, 1.5, 123_456_789_012),
    fc.array(text, { maxLength: 3 }),
    fc.dictionary(fc.oneof(fc.constantFrom("x", "abc"), view), text, { maxKeys: 3 }),
  );
  // Between two rows stands what no secret goes on over.
  const between = { t: "\u0001", v: [] };
  const row = fc.record({ t: text, v: value });
  fc.assert(
    fc.property(fc.array(row, { minLength: 1, maxLength: 4 }), (given) => {
      const rows = given.flatMap((one) => [one, between]);
      const [ofLines, ofColumns] = [registryOf(...secrets), registryOf(...secrets)];
      const lines = Buffer.from(rows.map((one) => `${JSON.stringify(one)}\n`).join(""));
      const redacted = linesOfBatch(ofColumns.redactBatch(batchOfRows(rows)));
      expect(redacted).toBe(ofLines.redactLines(lines).toString());
      expect(ofColumns.hitCount).toBe(ofLines.hitCount);
    }),
    { numRuns: choose({ quick: 150, whole: 1_000 }) },
  );
});

test.each([
  "int64",
  "number",
] as const)("counters beside each other are no secret made of the same digits: %s", (encoding) => {
  const secrets = createSecretRegistry();
  secrets.add("abcdefghij0123456789abcdefghij");
  const values = Array.from({ length: 1_000 }, (_, row) =>
    encoding === "int64" ? BigInt(row) : String(row),
  );
  const batch = {
    rowCount: values.length,
    columns: [columnOf("n", { kind: "integer", encoding }, values)],
    notes: [],
  };
  expect(secrets.redactBatch(batch)).toBe(batch);
});
