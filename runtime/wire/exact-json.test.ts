import fc from "fast-check";
import { expect, test } from "vitest";
import {
  isIntegerText,
  isJsonEqual,
  isRawJson,
  parseExact,
  rawJson,
  stringifyExact,
} from "./exact-json.ts";

const textOf = (value: unknown) =>
  isRawJson(value)
    ? value.rawJSON
    : typeof value === "bigint"
      ? String(value)
      : JSON.stringify(value);

test("integers beyond 2^53 are bigint, all others numbers", () => {
  expect(
    parseExact('{"a":9007199254740993,"b":-9223372036854775808,"c":9007199254740991,"d":1}'),
  ).toEqual({
    a: 9007199254740993n,
    b: -9223372036854775808n,
    c: 9007199254740991,
    d: 1,
  });
});

test("decimals that a double cannot hold stay raw JSON", () => {
  for (const text of [
    "0.12345678901234567890",
    "1234567890.12345678",
    "-1e400",
    "1e-400",
    "123456789012345678901.5",
    "2.5E+999",
  ]) {
    const value = parseExact(`[1, ${text}]`) as unknown[];
    expect(isRawJson(value[1]) && value[1].rawJSON).toBe(text);
  }
});

test("decimals that a double holds are numbers, however they are spelt", () => {
  expect(
    parseExact(
      "[0.1000000000000000000, 100000000000000000000.0, 1e100, -0.0000000000000000, 5e-324]",
    ),
  ).toEqual([0.1, 1e20, 1e100, -0, 5e-324]);
});

test("digits in strings are left alone", () => {
  const text =
    '{"12345678901234567890":"12345678901234567890.12345","uuid":"3e123456-1e40-4e99-8e88-1234567890123456"}';
  expect(parseExact(text)).toEqual(JSON.parse(text));
});

test("doubles written with all their digits stay numbers beside one that is not a double", () => {
  const text =
    '{"score":0.14285714285714285,"at":"2024-01-01T00:00:00.1234567890123456Z","n":[ 1234567890.1234567,-0.26666666666666666]}';
  expect(parseExact(text)).toEqual(JSON.parse(text));
  expect(parseExact(text.replace('"n":', '"big":12345678901234567,"n":'))).toEqual({
    ...JSON.parse(text),
    big: 12345678901234567n,
  });
});

test("a __proto__ key is an own property and nothing is polluted", () => {
  const value = parseExact('{"__proto__":{"polluted":12345678901234567890}}') as object;
  expect(Object.keys(value)).toEqual(["__proto__"]);
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  expect("polluted" in {}).toBe(false);
});

test("an integer of a million digits does not block the process", () => {
  const text = "9".repeat(1_000_000);
  const value = parseExact(text);
  expect(isRawJson(value) && value.rawJSON === text).toBe(true);
});

test("broken JSON is a SyntaxError on both ways", () => {
  expect(() => parseExact('{"a":')).toThrow(SyntaxError);
  expect(() => parseExact('{"a":12345678901234567890')).toThrow(SyntaxError);
});

test("property: numbers of any spelling keep their exact value wherever they stand", () => {
  const digits = (max: number) => fc.stringMatching(new RegExp(`^[0-9]{1,${max}}$`));
  const number = fc
    .record({
      sign: fc.constantFrom("", "-"),
      whole: digits(25).map((text) => text.replace(/^0+(?=\d)/, "")),
      fraction: fc.option(digits(25), { nil: undefined }),
      exponent: fc.option(fc.integer({ min: -420, max: 420 }), { nil: undefined }),
    })
    .map(({ sign, whole, fraction, exponent }) => {
      return `${sign}${whole}${fraction === undefined ? "" : `.${fraction}`}${exponent === undefined ? "" : `e${exponent}`}`;
    });
  fc.assert(
    fc.property(number, fc.string({ maxLength: 40 }), (text, before) => {
      const value = (
        parseExact(JSON.stringify([before, 0]).replace(/0\]$/, `${text}]`)) as unknown[]
      )[1];
      expect(sameDecimal(textOf(value), text)).toBe(true);
    }),
    { numRuns: 2_000 },
  );
});

/** An independent comparison: both as integers of the same scale. */
function sameDecimal(a: string, b: string): boolean {
  const scaled = (text: string) => {
    const [mantissa = "", exponent = "0"] = text.toLowerCase().split("e");
    const [whole = "", fraction = ""] = mantissa.split(".");
    return BigInt(whole + fraction) * 10n ** BigInt(Number(exponent) - fraction.length + 1_000);
  };
  return scaled(a) === scaled(b);
}

test("property: any other JSON is what JSON.parse gives", () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      const exact = parseExact(text);
      expect(isJsonEqual(JSON.parse(stringifyExact(exact, "s")), JSON.parse(text))).toBe(true);
    }),
  );
});

test("a number's text says whether it is an integer", () => {
  expect(["1.0", "1e3", "12.50e1", "0.0", "-7"].map(isIntegerText)).toEqual([
    true,
    true,
    true,
    true,
    true,
  ]);
  expect(["1.5", "1e-3", "12.55e1"].map(isIntegerText)).toEqual([false, false, false]);
});

test("a state is written as JSON.stringify does, with exact numbers", () => {
  const state = {
    page: 2,
    last: 9223372036854775807n,
    rate: rawJson("0.10000000000000000001"),
    none: null,
    gone: undefined,
    list: ["é\n"],
  };
  expect(stringifyExact(state, "s")).toBe(
    '{"page":2,"last":9223372036854775807,"rate":0.10000000000000000001,"none":null,"list":["é\\n"]}',
  );
  expect(stringifyExact("\ud800", "s")).toBe('"\\ud800"');
});

test("a state that is not plain JSON is refused with its stream and the limit", () => {
  const cycle: Record<string, unknown> = {};
  cycle.self = cycle;
  class Cursor {}
  for (const state of [
    undefined,
    () => 1,
    { a: () => 1 },
    [undefined],
    { a: Number.NaN },
    new Map(),
    { a: new Cursor() },
    Symbol("x"),
    cycle,
  ]) {
    expect(() => stringifyExact(state, "orders")).toThrowError(
      expect.objectContaining({
        code: "STATE_TOO_LARGE",
        details: { stream: "orders", limit: 1_048_576 },
      }),
    );
  }
});

test("a state may hold 1 MiB of UTF-8, not a byte more", () => {
  const fits = "é".repeat(1_048_574 / 2);
  expect(Buffer.byteLength(stringifyExact(fits, "s"))).toBe(1_048_576);
  expect(() => stringifyExact(`${fits}x`, "s")).toThrowError(
    expect.objectContaining({ code: "STATE_TOO_LARGE" }),
  );
});
