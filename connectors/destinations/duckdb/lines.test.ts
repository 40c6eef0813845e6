import { type BatchColumn, isValid } from "svc-connectors/destination";
import { expect, test } from "vitest";
import { createLineReader } from "./lines.ts";

const columns = [
  { property: "n", name: "n", type: "BIGINT" },
  { property: "text", name: "text", type: "VARCHAR" },
  { property: "ok", name: "ok", type: "BOOLEAN" },
  { property: "data", name: "data", type: "JSON" },
  { property: 'a"b', name: "q", type: "VARCHAR" },
];

/** Columns by property, values as texts. */
function read(...lines: string[]) {
  const text = Buffer.from(lines.map((line) => `${line}\n`).join(""));
  const { columns: given, meta } = createLineReader(columns)(text, lines.length);
  const values = (column: BatchColumn) =>
    lines.map((_, row) => {
      if (!isValid(column, row)) return null;
      if (column.encoding === "bool") return column.values[row] === 1;
      if (!("offsets" in column)) throw new Error("texts or booleans");
      return Buffer.from(
        column.bytes.subarray(column.offsets[row], column.offsets[row + 1]),
      ).toString();
    });
  return {
    ...Object.fromEntries(given.map((column) => [column.name, values(column)])),
    encodings: given.map(({ encoding }) => encoding),
    meta: meta && values(meta),
  };
}

test("each value is there as it was written, and a text without its escapes", () => {
  expect(
    read(
      '{"n":12345678901234567890.50,"text":"a\\u0000\\n\\ud83d\\ude00","ok":true,"data":{"k":[1,"}\\""]},"a\\"b":"q"}',
      '{"ok":false,"a\\u0022b":"by another name"}',
    ),
  ).toEqual({
    n: ["12345678901234567890.50", null],
    text: ["a\0\n😀", null],
    ok: [true, false],
    data: ['{"k":[1,"}\\""]}', null],
    'a"b': ["q", "by another name"],
    encodings: ["number", "utf8", "bool", "json", "utf8"],
    meta: [null, null],
  });
});

test("spaces, unknown properties, nulls and properties that come twice are taken as JSON does", () => {
  expect(
    read(
      ' { "x" : [ { } , "]" ] , "n" : 1 , "n" : 2 , "text" : null }  ',
      "{}",
      '{"text":"long","text":"s","data":"x","data":null,"n":3}',
    ),
  ).toMatchObject({
    n: ["2", null, "3"],
    text: [null, null, "s"],
    data: [null, null, null],
  });
});

test("half of a surrogate pair becomes U+FFFD; what has another type is text", () => {
  expect(
    read('{"text":"a\\ud800b","ok":"maybe","n":"x"}', '{"ok":true,"text":{"a":1}}'),
  ).toMatchObject({
    text: ["a\ufffdb", '{"a":1}'],
    ok: ["maybe", "true"],
    n: ["x", null],
    encodings: ["number", "utf8", "utf8", "json", "utf8"],
  });
});

test("what the host has noted of a row stays beside it", () => {
  const meta = '{"changes":[{"field":"n"}]}';
  expect(read(`{"n":null,"_svc_meta":${meta}}`, '{"n":1}').meta).toEqual([meta, null]);
});
