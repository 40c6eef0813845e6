import fc from "fast-check";
import { expect, test } from "vitest";
import { notStrictJson, strictJsonEnd } from "./strict-json.ts";

function isStrict(text: string): boolean {
  const bytes = Buffer.from(text);
  try {
    return strictJsonEnd(bytes, 0) === bytes.length;
  } catch (error) {
    expect(error).toBe(notStrictJson);
    return false;
  }
}

test("property: what JSON.stringify writes is taken", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(isStrict(JSON.stringify(value))).toBe(true);
    }),
  );
});

test("every escape that JSON.stringify makes is taken", () => {
  const units = Array.from({ length: 2 ** 16 }, (_, unit) => String.fromCharCode(unit));
  for (let from = 0; from < units.length; from += 256)
    expect(isStrict(JSON.stringify({ text: units.slice(from, from + 256).join(" ") }))).toBe(true);
});

test.each([
  ["a text that closes its envelope", '{}},"type":"STATE","x":{'],
  ["two objects on a line", "{}{}"],
  ["an object behind an object", '{} {"a":1}'],
  ["nothing", ""],
  ["an open object", '{"a":1'],
  ["an open string", '{"a":"1}'],
  ["a string that ends in a backslash", '{"a":"1\\"}'],
  ["a line break inside", '{"a":\n1}'],
  ["a bracket closed by a brace", '{"a":[1}'],
  ["a brace closed by a bracket", '{"a":1]'],
  ["deeper nesting than any row has", `${'{"a":'.repeat(300)}1${"}".repeat(300)}`],
  ["a control character", '{"a":\u00011}'],
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
])("%s is refused", (_, text) => {
  expect(isStrict(text)).toBe(false);
});

test("property: of changed texts only what JSON.parse takes, too", () => {
  const row = fc.dictionary(fc.string(), fc.jsonValue()).map((one) => JSON.stringify(one));
  const piece = fc.constantFrom(...'{}[]",:\\0-1e.Eutfn\t \u0001é', "null", "\\u0", '"a":');
  const changed = fc.tuple(row, fc.nat(), fc.nat(3), piece).map(([text, place, cut, added]) => {
    const at = place % (text.length + 1);
    return text.slice(0, at) + added + text.slice(at + cut);
  });
  let takenCount = 0;
  fc.assert(
    fc.property(changed, (text) => {
      // White space is refused although JSON allows it.
      if (!isStrict(text)) return;
      takenCount++;
      expect(() => JSON.parse(text)).not.toThrow();
    }),
    { numRuns: 3_000 },
  );
  expect(takenCount).toBeGreaterThan(100);
});
