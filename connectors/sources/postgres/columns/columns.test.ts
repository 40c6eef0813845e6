import fc from "fast-check";
import { expect, test } from "vitest";
import { arrayToJson } from "../arrays.ts";
import { shortestFloat } from "./floats.ts";
import { dateText, instantText, timeText } from "./instants.ts";
import { writeJson } from "./json.ts";
import { longDecimals, numbers, shortDecimals } from "./numerics.ts";
import { TextBytes } from "./texts.ts";
import type { Block } from "./values.ts";

/** Fields as they lie on the wire; null is null. */
function blockOf(fields: readonly (Buffer | null)[]): Block {
  const starts = new Int32Array(fields.length);
  const parts: Buffer[] = [];
  let at = 0;
  for (const [index, bytes] of fields.entries()) {
    const length = Buffer.alloc(4);
    length.writeInt32BE(bytes?.length ?? -1);
    parts.push(length, bytes ?? Buffer.alloc(0));
    starts[index] = bytes === null ? 0 : at + 4;
    at += 4 + (bytes?.length ?? 0);
  }
  const bytes = Buffer.concat(parts);
  return { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.length), starts };
}

/** The binary form of a decimal text, in the words of numeric_send. */
function numericOf(text: string): Buffer {
  const words: Record<string, number> = { NaN: 0xc000, Infinity: 0xd000, "-Infinity": 0xf000 };
  const [, minus = "", whole = "", fraction = ""] = /^(-?)(\d*)\.?(\d*)$/.exec(text) ?? [];
  const padded = whole.padStart(Math.ceil(whole.length / 4) * 4, "0");
  const all = padded + fraction.padEnd(Math.ceil(fraction.length / 4) * 4, "0");
  let groups = (all.match(/.{4}/g) ?? []).map(Number);
  let weight = padded.length / 4 - 1;
  while (groups.length > 0 && groups[0] === 0) {
    groups = groups.slice(1);
    weight--;
  }
  while (groups.at(-1) === 0) groups = groups.slice(0, -1);
  if (groups.length === 0) weight = 0;
  const sign = words[text] ?? (minus && groups.length > 0 ? 0x4000 : 0);
  const head = [groups.length, weight, sign, words[text] ? 0 : fraction.length];
  const bytes = Buffer.alloc((4 + groups.length) * 2);
  for (const [index, value] of [...head, ...groups].entries())
    bytes.writeUInt16BE(value & 0xffff, index * 2);
  return bytes;
}

const digits = (minLength: number, maxLength: number) =>
  fc.string({ unit: fc.constantFrom(..."0123456789"), minLength, maxLength });
const decimal = (whole: number, fraction: number) =>
  fc.tuple(fc.boolean(), digits(1, whole), digits(0, fraction)).map(([isNegative, one, other]) => {
    const text = `${one.replace(/^0+(?=\d)/, "")}${other && `.${other}`}`;
    return isNegative && /[1-9]/.test(text) ? `-${text}` : text;
  });
const scaled = (text: string, scale: number) => {
  const [whole = "", fraction = ""] = text.split(".");
  return BigInt(whole + fraction.padEnd(scale, "0"));
};

test("property: a numeric is written with all its digits, and no other", () => {
  const values = numbers(8);
  fc.assert(
    fc.property(
      fc.oneof(decimal(140, 60), fc.constantFrom("NaN", "Infinity", "-Infinity", "0.0000")),
      (text) => {
        values.clear();
        values.add(blockOf([numericOf(text), null]), 0, 2, 0);
        const column = values.get(2);
        expect("offsets" in column && column.bytes.toString()).toBe(text);
        expect(column.validity?.[0]).toBe(0xfd);
      },
    ),
    { numRuns: 1000 },
  );
});

const isBelow = (value: bigint, digits: bigint) => (value < 0n ? -value : value) < 10n ** digits;

test("property: decimals of up to 18 and 38 digits are exact", () => {
  const options = { isInteger: false, losesNaN: false };
  fc.assert(
    fc.property(fc.nat({ max: 18 }), fc.nat({ max: 38 }), fc.gen(), (short, long, gen) => {
      const shortText = gen(decimal, Math.max(1, 18 - short), short);
      const shortValue = scaled(shortText, short);
      const values = shortDecimals(8, { ...options, scale: short });
      const taken = values.add(blockOf([null, numericOf(shortText)]), 0, 2, 0);
      expect([shortText, taken]).toEqual([shortText, isBelow(shortValue, 18n) ? 2 : 1]);
      const column = values.get(taken);
      if (taken === 2 && column.encoding === "decimal64")
        expect([shortText, [...column.values]]).toEqual([shortText, [0n, shortValue]]);

      const longText = gen(decimal, Math.max(1, 38 - long), long);
      const longValue = scaled(longText, long);
      const wide = longDecimals(8, { ...options, scale: long });
      const wideTaken = wide.add(blockOf([null, numericOf(longText)]), 0, 2, 0);
      expect([longText, wideTaken]).toEqual([longText, isBelow(longValue, 38n) ? 2 : 1]);
      if (wideTaken < 2) return;
      const { values: bytes } = wide.get(2) as { values: Uint8Array };
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
      const value = (view.getBigInt64(24, true) << 64n) | view.getBigUint64(16, true);
      expect([longText, value]).toEqual([longText, longValue]);
    }),
    { numRuns: 1000 },
  );
});

test("what a decimal column cannot hold is not taken, until the column is widened", () => {
  const values = shortDecimals(8, { scale: 2, isInteger: false, losesNaN: false });
  for (const text of ["NaN", "0.001", "12345678901234567.00", "99999999999999999999999.5"]) {
    const block = blockOf([numericOf("1.50"), numericOf(text), numericOf("2")]);
    values.clear();
    expect([text, values.add(block, 0, 3, 0)]).toEqual([text, 1]);
    values.clear();
    values.widen();
    expect(values.add(block, 0, 3, 0)).toBe(3);
    const column = values.get(3);
    expect("offsets" in column && column.bytes.toString()).toBe(`1.50${text}2`);
  }
});

const compact = (text: string): string => {
  const out = new TextBytes();
  const bytes = Buffer.from(`xx${text}yy`);
  writeJson(out, bytes, 2, bytes.length - 2);
  return out.bytes.toString("utf8", 0, out.length);
};

test("property: JSON with any white space and any escapes becomes what JSON.stringify writes", () => {
  const escaped = (text: string) =>
    text.replace(/"(?:[^"\\]|\\.)*"/g, (string) =>
      string.replace(/[a-m\u00e0-\uffff/]/g, (letter) =>
        letter === "/" ? "\\/" : `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`,
      ),
    );
  const value = fc.jsonValue({ maxDepth: 3 });
  fc.assert(
    fc.property(value, fc.boolean(), (given, isEscaped) => {
      const text = JSON.stringify(given, null, "\t ");
      const isPlain = !text.includes("\\");
      expect(compact(isEscaped && isPlain ? escaped(text) : text)).toBe(JSON.stringify(given));
    }),
    { numRuns: 100 },
  );
});

test("JSON keeps digits, names that come twice, and the escapes that it needs", () => {
  const cases = [
    ['{ "a" : 1.00, "a":\n12345678901234567890 }', '{"a":1.00,"a":12345678901234567890}'],
    ['"\\u000A\\u0001\\u007f\\uD83D\\uDE00\\ud800"', `"\\n\\u0001\u007f😀\\ud800"`],
    ['"\\\\u0041"', '"\\\\u0041"'],
    ["[ ]", "[]"],
  ];
  for (const [given = "", expected] of cases) expect(compact(given)).toBe(expected);
});

test("JSON that is nested too deep is refused", () => {
  const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
  expect(compact(nested(200))).toBe(nested(200));
  expect(() => compact(nested(201))).toThrowError(
    expect.objectContaining({ code: "RECORD_INVALID" }),
  );
});

test("property: a float is written with digits that mean it alone, and with few", () => {
  fc.assert(
    fc.property(fc.float(), (float) => {
      const shortest = shortestFloat(float);
      expect(Math.fround(shortest)).toBe(float);
      if (Number.isFinite(float))
        expect(String(shortest).length).toBeLessThanOrEqual(String(float).length);
    }),
    { numRuns: 2000 },
  );
  expect(
    [0.1, 1.1, 16_777_216, 3.4028235e38, 1e-45].map((one) => shortestFloat(Math.fround(one))),
  ).toEqual([0.1, 1.1, 16_777_216, 3.4028235e38, 1e-45]);
});

test("property: days and instants are written as the calendar has them", () => {
  const since = Date.UTC(2000, 0, 1);
  const from = (Date.parse("0001-01-01") - since) * 1000;
  const to = (Date.parse("9999-12-31") - since) * 1000;
  fc.assert(
    fc.property(fc.bigInt({ min: BigInt(from), max: BigInt(to) }), (microseconds) => {
      const ms = Number((microseconds - (((microseconds % 1000n) + 1000n) % 1000n)) / 1000n);
      const iso = new Date(since + ms).toISOString();
      const micros = String(((microseconds % 1000n) + 1000n) % 1000n).padStart(3, "0");
      const text = `${iso.slice(0, 10)} ${iso.slice(11, 23)}${micros}`;
      expect(instantText(microseconds, "")).toBe(
        text.replace(/\.?0+$/, (end) =>
          end.startsWith(".") || end.includes(".") ? "" : end.replace(/0+$/, ""),
        ),
      );
      const days = Math.floor(Number(microseconds) / 86_400_000_000);
      expect(dateText(days)).toBe(new Date(since + days * 86_400_000).toISOString().slice(0, 10));
    }),
    { numRuns: 500 },
  );
});

test("what lies beyond the calendar's usual years has the server's text", () => {
  expect(dateText(-2_451_545)).toBe("4714-11-24 BC");
  expect(dateText(2_145_031_948)).toBe("5874897-12-31");
  expect([dateText(2 ** 31 - 1), dateText(-(2 ** 31))]).toEqual(["infinity", "-infinity"]);
  expect(instantText(2n ** 63n - 1n, "+00")).toBe("infinity");
  expect(instantText(-(2n ** 63n), "+00")).toBe("-infinity");
  const ides = Buffer.from("ff1af9e8fb46d000", "hex").readBigInt64BE();
  expect(instantText(ides, "+00")).toBe("0044-03-15 12:00:00+00 BC");
  expect(timeText(86_400_000_000n)).toBe("24:00:00");
});

test("a text that is no array is refused at once", () => {
  const asIs = (element: string) => element;
  expect(arrayToJson("[0:1]={5,6}", ",", asIs)).toBe("[5,6]");
  for (const text of ['{"a}', "{1", "{{1}", '{"a\\', "{"])
    expect(() => arrayToJson(text, ",", asIs)).toThrow(RangeError);
});
