import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkRowLines, createLineFormatter } from "./record-line.ts";

const lines = (...texts: string[]) => Buffer.from(texts.map((text) => `${text}\n`).join(""));
const refused = expect.objectContaining({ code: "CONNECTOR_PROTOCOL" });

describe("checkRowLines", () => {
  test("accepts any JSON objects, one a line", () => {
    fc.assert(
      fc.property(fc.array(fc.dictionary(fc.string(), fc.jsonValue())), (rows) => {
        expect(checkRowLines(lines(...rows.map((row) => JSON.stringify(row))), rows.length)).toBe(
          false,
        );
      }),
    );
  });

  test("tells whether a line has notes", () => {
    expect(checkRowLines(lines('{"a":1}', '{"a":null}\t{"changes":[]}'), 2)).toBe(true);
  });

  test.each([
    ["a row that closes its envelope", '{}},"type":"STATE","x":{'],
    ["two objects on a line", "{}{}"],
    ["an object behind an object", '{} {"a":1}'],
    ["an array", "[1]"],
    ["a text", '"a"'],
    ["nothing", ""],
    ["an open object", '{"a":1'],
    ["an open string", '{"a":"1}'],
    ["a string that ends in a backslash", '{"a":"1\\"}'],
    ["a line break inside", '{"a":\n1}'],
    ["a line break inside of a text", '{"t":"\n{}},"type":"STATE""}'],
    ["a bracket closed by a brace", '{"a":[1}'],
    ["a brace closed by a bracket", '{"a":1]'],
    ["deeper nesting than any row has", `${'{"a":'.repeat(300)}1${"}".repeat(300)}`],
    ["a control character", '{"a":\u00011}'],
    ["notes without a row", '\t{"changes":[]}'],
    ["an empty note", "{}\t"],
  ])("refuses %s", (_, text) => {
    expect(() => checkRowLines(lines(text), 1)).toThrow(refused);
  });

  test("refuses a wrong count and a last line without its end", () => {
    expect(() => checkRowLines(lines("{}", "{}"), 1)).toThrow(refused);
    expect(() => checkRowLines(lines("{}"), 2)).toThrow(refused);
    expect(() => checkRowLines(Buffer.from("{}"), 1)).toThrow(refused);
  });
});

describe("the envelope", () => {
  const stream = { name: 'odd "näme"\n', namespace: "public" };
  const rows = lines('{"id":1}', '{"id":null}\t{"changes":[{"field":"id"}]}', "{}");

  test("of an Airbyte message names the stream, and the notes where there are any", () => {
    const format = createLineFormatter(stream, "airbyte");
    const record = (data: unknown, meta?: unknown) => ({
      type: "RECORD",
      record: {
        stream: stream.name,
        namespace: "public",
        data,
        emitted_at: 99,
        ...(meta ? { meta } : {}),
      },
    });
    const parse = (text: Buffer) =>
      text
        .toString()
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line));
    expect(parse(format(rows, 3, true, 99))).toEqual([
      record({ id: 1 }),
      record({ id: null }, { changes: [{ field: "id" }] }),
      record({}),
    ]);
    expect(parse(format(lines('{"id":1}', "{}"), 2, false, 99))).toEqual([
      record({ id: 1 }),
      record({}),
    ]);
  });

  test("of bare rows is none, and notes become _svc_meta", () => {
    const format = createLineFormatter(stream, "rows");
    expect(format(rows, 3, true, 99).toString()).toBe(
      '{"id":1}\n{"id":null,"_svc_meta":{"changes":[{"field":"id"}]}}\n{}\n',
    );
  });
});
