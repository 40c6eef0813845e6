import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkRowLines } from "./row-lines.ts";
import { noteOf } from "./row-notes.ts";

const lines = (...texts: string[]) => Buffer.from(texts.map((text) => `${text}\n`).join(""));
const noteOn = (...fields: string[]) => JSON.stringify({ changes: fields.map(noteOf) });
const note = noteOn("a");
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

  test("accepts every escape that JSON.stringify makes", () => {
    const units = Array.from({ length: 2 ** 16 }, (_, unit) => String.fromCharCode(unit));
    for (let from = 0; from < units.length; from += 256) {
      const row = JSON.stringify({ text: units.slice(from, from + 256).join(" ") });
      expect(checkRowLines(lines(row), 1)).toBe(false);
    }
  });

  test("tells whether a line has notes", () => {
    expect(checkRowLines(lines('{"a":1}', `{"a":null}\t${note}`), 2)).toBe(true);
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
    ["two notes", `{"a":null}\t${note}\t${note}`],
    ["a note of another form", '{"a":null}\t{"changes":[],"note":"more"}'],
    ["a note without a change", '{"a":null}\t{"changes":[]}'],
    ["a note of another change", `{"a":null}\t${note.replace("NULLED", "TRUNCATED")}`],
    ["a note that has more to say", `{"a":null}\t${note.replace("}]", ',"x":1}]')}`],
    ["more notes than a row has", `{"a":null}\t${noteOn(...Array.from({ length: 21 }, String))}`],
    ["a word of JavaScript", '{"id":1,"text":undefined}'],
    ["a comma too many", '{"id":1,}'],
    ["a comma too many in a list", '{"a":[1,]}'],
    ["a missing comma", '{"a":1"b":2}'],
    ["a missing colon", '{"a"1}'],
    ["a name without quotes", "{a:1}"],
    ["a name alone", '{"a"}'],
    ["a number as a name", "{1:2}"],
    ["a comma for a colon", '{"a","b"}'],
    ["a colon in a list", '{"a":[1:2]}'],
    ["white space", '{"a": 1}'],
    ["a broken escape", '{"a":"\\q"}'],
    ["a broken code", '{"a":"\\u12"}'],
    ["a code that goes on in the next member", '{"a":"\\u12","b":"34"}'],
    ["a letter as an escape", '{"a":"\\u0041"}'],
    ["a slash as an escape", '{"a":"\\/"}'],
    ["an escape in capitals", '{"a":"\\u001F"}'],
    ["an emoji as two escapes", '{"a":"\\uD83D\\uDE00"}'],
    ["a raw tab in a text", '{"a":"\t"}'],
    ["a plus", '{"a":+1}'],
    ["a leading zero", '{"a":01}'],
    ["a point without digits", '{"a":1.}'],
    ["a point in front", '{"a":.5}'],
    ["an exponent without digits", '{"a":1e}'],
    ["a minus alone", '{"a":-}'],
    ["a hexadecimal number", '{"a":0x10}'],
    ["no number", '{"a":NaN}'],
    ["an infinite number", '{"a":-Infinity}'],
    ["half a word", '{"a":tru}'],
    ["a word with more behind it", '{"a":nullx}'],
    ["a capital word", '{"a":True}'],
    ["a comment", '{"a":1/**/}'],
    ["a byte order mark", '\ufeff{"a":1}'],
  ])("refuses %s", (_, text) => {
    expect(() => checkRowLines(lines(text), 1)).toThrow(refused);
  });

  test.each([
    ["bytes that are no UTF-8", [0xff]],
    ["half a character", [0xc3]],
    ["a character written too long", [0xc0, 0xa2]],
    ["half a pair", [0xed, 0xa0, 0x80]],
  ])("refuses %s", (_, bytes) => {
    const text = Buffer.concat([Buffer.from('{"a":"'), Buffer.from(bytes), Buffer.from('"}\n')]);
    expect(() => checkRowLines(text, 1)).toThrow(refused);
  });

  test("accepts of changed rows only what JSON.parse accepts too", () => {
    const row = fc.dictionary(fc.string(), fc.jsonValue()).map((one) => JSON.stringify(one));
    const piece = fc.constantFrom(...'{}[]",:\\0-1e.Eutfn\t \u0001é', "null", "\\u0", '"a":');
    const changed = fc.tuple(row, fc.nat(), fc.nat(3), piece).map(([text, place, cut, added]) => {
      const at = place % (text.length + 1);
      return text.slice(0, at) + added + text.slice(at + cut);
    });
    let acceptedCount = 0;
    fc.assert(
      fc.property(changed, (text) => {
        try {
          checkRowLines(lines(text), 1);
        } catch (error) {
          expect(error).toEqual(refused);
          // White space, and what is no object, is refused although JSON allows it.
          return;
        }
        acceptedCount++;
        expect(() => JSON.parse(text.split("\t")[0] ?? "")).not.toThrow();
      }),
      { numRuns: 3_000 },
    );
    expect(acceptedCount).toBeGreaterThan(100);
  });

  test("refuses a wrong count and a last line without its end", () => {
    expect(() => checkRowLines(lines("{}", "{}"), 1)).toThrow(refused);
    expect(() => checkRowLines(lines("{}"), 2)).toThrow(refused);
    expect(() => checkRowLines(Buffer.from("{}"), 1)).toThrow(refused);
  });
});
