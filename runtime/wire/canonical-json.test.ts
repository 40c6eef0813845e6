import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalize } from "./canonical-json.ts";
import { parseExact } from "./exact-json.ts";

test("properties are sorted by UTF-16 code units at every depth, and nothing else is added", () => {
  const value = { "\u20ac": 1, "\r": [{ b: 1, a: null }], "\ufb33": "x", "\u{1f600}": true, 1: 0 };
  expect(canonicalize(value)).toBe(
    '{"\\r":[{"a":null,"b":1}],"1":0,"\u20ac":1,"\u{1f600}":true,"\ufb33":"x"}',
  );
});

test.each([
  ["1.0", "1", "1"],
  ["-0", "-0", "0"],
  ["0.50", "5e-1", "0.5"],
  ["333333333.33333329", "33333333333333329e-8", "333333333.3333333"],
  ["1E30", "1e30", "1e+30"],
  ["4.50", "45e-1", "4.5"],
  ["2e-3", "2e-3", "0.002"],
  ["100000000000000000000", "100000000000000000000", "100000000000000000000"],
])("%s is %s exactly, %s in ECMAScript", (text, exact, ecmascript) => {
  expect(canonicalize(parseExact(text))).toBe(exact);
  expect(canonicalize(JSON.parse(text), "ecmascript")).toBe(ecmascript);
});

test.each([
  ["a long integer", "9007199254740993", "9007199254740993.0", "9007199254740993e0"],
  ["a long decimal", "0.10000000000000000555", "1.0000000000000000555e-1"],
  ["a number beyond every double", "1e400", "10E399", "1e+400"],
])("%s has one text, however it is spelt, and no other number has it", (_, ...spellings) => {
  const texts = new Set(spellings.map((text) => canonicalize(parseExact(text))));
  expect(texts.size).toBe(1);
  expect(texts).not.toContain(canonicalize(parseExact(`-${spellings[0]}`)));
});

test("what JSON leaves out is left out", () => {
  expect(canonicalize({ a: undefined, b: [undefined] })).toBe('{"b":[null]}');
  expect(canonicalize(undefined)).toBe("null");
});

test("an object without a prototype, and a property named __proto__, are as any others", () => {
  expect(canonicalize(Object.assign(Object.create(null), { b: 1, a: 2 }))).toBe('{"a":2,"b":1}');
  expect(canonicalize(JSON.parse('{"__proto__":{"b":1,"a":2}}'))).toBe(
    '{"__proto__":{"a":2,"b":1}}',
  );
});

test("the text gives the value back, and the order of properties changes nothing", () => {
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
      for (const numbers of ["exact", "ecmascript"] as const) {
        const text = canonicalize(value, numbers);
        expect(canonicalize(JSON.parse(text), numbers)).toBe(text);
        expect(canonicalize(turned(value), numbers)).toBe(text);
      }
      expect(JSON.parse(canonicalize(value, "ecmascript"))).toEqual(
        JSON.parse(JSON.stringify(value)),
      );
    }),
  );
});

function turned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(turned);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, part]) => [name, turned(part)]),
  );
}
