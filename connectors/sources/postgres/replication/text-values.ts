/**
 * Values of the log as COPY has them: the log's text becomes the binary form of the type, so that
 * rows of both ways are decoded alike.
 */
import type { TextBytes } from "../columns/texts.ts";

/** Writes the binary form of the value whose text lies between two places. */
export type ToWire = (out: TextBytes, bytes: Buffer, start: number, end: number) => void;

const word = (bytes: Buffer, start: number, end: number) => bytes.toString("latin1", start, end);

/** The text is the form. */
export const copied: ToWire = (out, bytes, start, end) => out.copy(bytes, start, end);

const into = (out: TextBytes, count: number): number => {
  out.reserve(count);
  const at = out.length;
  out.length += count;
  return at;
};

/** The lower bytes of a whole number; Node's own ways look at its range each time. */
function put16(bytes: Buffer, at: number, value: number): void {
  bytes[at] = value >> 8;
  bytes[at + 1] = value;
}

export function put32(bytes: Buffer, at: number, value: number): void {
  bytes[at] = value >> 24;
  bytes[at + 1] = value >> 16;
  bytes[at + 2] = value >> 8;
  bytes[at + 3] = value;
}

const boolean: ToWire = (out, bytes, start) => {
  const at = into(out, 1);
  out.bytes[at] = bytes[start] === 0x74 ? 1 : 0;
};

const binary: ToWire = (out, bytes, start, end) => {
  const at = into(out, (end - start - 2) >> 1);
  out.bytes.write(word(bytes, start + 2, end), at, "hex");
};

/** Digits that a double holds. */
const safeDigits = 15;

function toInteger(bytes: Buffer, start: number, end: number): number {
  const isNegative = bytes[start] === 0x2d;
  let value = 0;
  for (let at = isNegative ? start + 1 : start; at < end; at++)
    value = value * 10 + (bytes[at] as number) - 0x30;
  return isNegative ? -value : value;
}

const int2: ToWire = (out, bytes, start, end) => {
  const at = into(out, 2);
  put16(out.bytes, at, toInteger(bytes, start, end));
};
const int4: ToWire = (out, bytes, start, end) => {
  const at = into(out, 4);
  put32(out.bytes, at, toInteger(bytes, start, end));
};
const oid: ToWire = (out, bytes, start, end) => {
  const at = into(out, 4);
  put32(out.bytes, at, toInteger(bytes, start, end));
};

const two32 = 2 ** 32;

/** A whole number that a double holds, as 64 bits. */
function writeLong(out: TextBytes, value: number): void {
  const at = into(out, 8);
  const high = Math.floor(value / two32);
  put32(out.bytes, at, high);
  put32(out.bytes, at + 4, value - high * two32);
}

export function writeBigLong(out: TextBytes, value: bigint): void {
  const at = into(out, 8);
  out.bytes.writeBigInt64BE(value, at);
}

const int8: ToWire = (out, bytes, start, end) =>
  end - start <= safeDigits
    ? writeLong(out, toInteger(bytes, start, end))
    : writeBigLong(out, BigInt(word(bytes, start, end)));

const float4: ToWire = (out, bytes, start, end) => {
  const at = into(out, 4);
  out.bytes.writeFloatBE(Number(word(bytes, start, end)), at);
};
const float8: ToWire = (out, bytes, start, end) => {
  const at = into(out, 8);
  out.bytes.writeDoubleBE(Number(word(bytes, start, end)), at);
};

const uuid: ToWire = (out, bytes, start, end) => {
  const at = into(out, 16);
  out.bytes.write(word(bytes, start, end).replaceAll("-", ""), at, "hex");
};

/** A version stands before the text. */
const jsonb: ToWire = (out, bytes, start, end) => {
  const at = into(out, 1);
  out.bytes[at] = 1;
  out.copy(bytes, start, end);
};

const endlessDays = 2 ** 31 - 1;

/** `2026-01-02`, `0044-03-15 BC`: days since 2000. */
function toDays(text: string): number {
  const [year = 0, month = 1, day = 1] = text.replace(/ BC$/, "").split("-").map(Number);
  return daysOf(text.endsWith("BC") ? 1 - year : year, month, day);
}

/**
 * In the Gregorian calendar, also before it began.
 * @see https://howardhinnant.github.io/date_algorithms.html (days_from_civil, read 2026-11)
 */
function daysOf(year: number, month: number, day: number): number {
  const shifted = month <= 2 ? year - 1 : year;
  const era = Math.floor(shifted / 400);
  const yearOfEra = shifted - era * 400;
  const dayOfYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1;
  const dayOfEra =
    yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 730_425;
}

const date: ToWire = (out, bytes, start, end) => {
  const text = word(bytes, start, end);
  const at = into(out, 4);
  if (text === "infinity") put32(out.bytes, at, endlessDays);
  else if (text === "-infinity") put32(out.bytes, at, -endlessDays - 1);
  else put32(out.bytes, at, toDays(text));
};

/** `03:04:05.123456`: microseconds. */
function toMicroseconds(text: string): number {
  const [clock = "", fraction = ""] = text.split(".");
  const [hours = 0, minutes = 0, seconds = 0] = clock.split(":").map(Number);
  return ((hours * 60 + minutes) * 60 + seconds) * 1_000_000 + Number(fraction.padEnd(6, "0"));
}

const time: ToWire = (out, bytes, start, end) =>
  writeLong(out, toMicroseconds(word(bytes, start, end)));

const endlessInstant = 2n ** 63n - 1n;
const dayMicroseconds = 86_400_000_000;
/** Days whose microseconds a double holds. */
const safeDays = 100_000;

const two = (bytes: Buffer, at: number) =>
  ((bytes[at] as number) - 0x30) * 10 + (bytes[at + 1] as number) - 0x30;

/** Microseconds of the usual form, without making texts of it. Undefined: it has another one. */
function toPlainInstant(bytes: Buffer, start: number, end: number): number | undefined {
  if (end - start < 19 || bytes[start + 4] !== 0x2d || bytes[start + 10] !== 0x20) return undefined;
  let micros = 0;
  let at = start + 19;
  if (bytes[at] === 0x2e) {
    at++;
    for (let unit = 100_000; at < end && (bytes[at] as number) >= 0x30; at++, unit /= 10)
      micros += ((bytes[at] as number) - 0x30) * unit;
  }
  if (at < end && (end - at !== 3 || bytes[at] !== 0x2b)) return undefined;
  const year = two(bytes, start) * 100 + two(bytes, start + 2);
  const days = daysOf(year, two(bytes, start + 5), two(bytes, start + 8));
  if (Math.abs(days) >= safeDays) return undefined;
  const minutes = two(bytes, start + 11) * 60 + two(bytes, start + 14);
  return days * dayMicroseconds + (minutes * 60 + two(bytes, start + 17)) * 1_000_000 + micros;
}

/** `2026-01-02 03:04:05.123456`, `+00` and ` BC` behind it or not. */
const instant: ToWire = (out, bytes, start, end) => {
  const plain = toPlainInstant(bytes, start, end);
  if (plain !== undefined) return writeLong(out, plain);
  const text = word(bytes, start, end);
  if (text === "infinity") return writeBigLong(out, endlessInstant);
  if (text === "-infinity") return writeBigLong(out, -endlessInstant - 1n);
  const [day = "", clock = ""] = text.split(" ", 2);
  const days = toDays(text.endsWith(" BC") ? `${day} BC` : day);
  const micros = toMicroseconds(clock.replace(/\+00$/, ""));
  if (Math.abs(days) < safeDays) writeLong(out, days * dayMicroseconds + micros);
  else writeBigLong(out, BigInt(days) * BigInt(dayMicroseconds) + BigInt(micros));
};

const signs = {
  positive: 0,
  negative: 0x4000,
  nan: 0xc000,
  infinity: 0xd000,
  negativeInfinity: 0xf000,
};
const words: Readonly<Record<string, number>> = {
  NaN: signs.nan,
  Infinity: signs.infinity,
  "-Infinity": signs.negativeInfinity,
};

/** Groups of four digits, without those of zeros at both ends. @see ../columns/numerics.ts */
const numeric: ToWire = (out, bytes, start, end) => {
  const isNegative = bytes[start] === 0x2d;
  const from = isNegative ? start + 1 : start;
  if ((bytes[from] as number) > 0x39)
    return writeNumericHead(out, 0, 0, words[word(bytes, start, end)] ?? signs.nan, 0);
  let point = from;
  while (point < end && bytes[point] !== 0x2e) point++;
  const scale = Math.max(0, end - point - 1);
  const wholeGroups = Math.ceil((point - from) / 4);
  const groupCount = wholeGroups + Math.ceil(scale / 4);
  const at = into(out, 8 + groupCount * 2);
  let first = -1;
  let last = -1;
  for (let group = 0; group < groupCount; group++) {
    const isWhole = group < wholeGroups;
    const begin = point + (group - wholeGroups) * 4 + (isWhole ? 0 : 1);
    let value = 0;
    for (let place = begin; place < begin + 4; place++)
      value = value * 10 + (place < from || place >= end ? 0 : (bytes[place] as number) - 0x30);
    if (value !== 0) {
      if (first < 0) first = group;
      last = group;
    }
    if (first >= 0) put16(out.bytes, at + 8 + (group - first) * 2, value);
  }
  out.length = at;
  if (first < 0) return writeNumericHead(out, 0, 0, signs.positive, scale);
  const sign = isNegative ? signs.negative : signs.positive;
  writeNumericHead(out, last - first + 1, wholeGroups - 1 - first, sign, scale);
  out.length += (last - first + 1) * 2;
};

function writeNumericHead(
  out: TextBytes,
  count: number,
  weight: number,
  sign: number,
  scale: number,
): void {
  const at = into(out, 8);
  put16(out.bytes, at, count);
  put16(out.bytes, at + 2, weight);
  put16(out.bytes, at + 4, sign);
  put16(out.bytes, at + 6, scale);
}

const byOid: ReadonlyMap<number, ToWire> = new Map([
  [16, boolean],
  [17, binary],
  [20, int8],
  [21, int2],
  [23, int4],
  [26, oid],
  [700, float4],
  [701, float8],
  [1082, date],
  [1083, time],
  [1114, instant],
  [1184, instant],
  [1700, numeric],
  [2950, uuid],
  [3802, jsonb],
]);

/** For a type with domains taken off, that is no array: these are text on both ways. */
export const toWireOf = (type: number): ToWire => byOid.get(type) ?? copied;

/** Types whose text is JSON. */
const jsonTypes: ReadonlySet<number> = new Set([20, 21, 23, 26, 114, 3802]);
const numberTypes: ReadonlySet<number> = new Set([700, 701, 1700]);

/** Writes values as `to_json` does. */
export function toJsonOf(type: number): ToWire {
  if (jsonTypes.has(type)) return copied;
  return (out, bytes, start, end) => {
    const text = bytes.toString("utf8", start, end);
    if (type === 16) out.text(text === "t" ? "true" : "false");
    else if (numberTypes.has(type) && /\d$/.test(text)) out.text(text);
    else if (type === 1114 || type === 1184)
      out.text(JSON.stringify(text.replace(" ", "T").replace(/\+00$/, "+00:00")));
    else out.text(JSON.stringify(text));
  };
}
