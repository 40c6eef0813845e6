/**
 * Values of columns as JSON. What JSON cannot say has no text: NaN and infinity, dates before the
 * year 1 and after 9999.
 */
import { type Column, endlessDay, endlessInstant } from "../contract/batch.ts";
import { numberText } from "../wire/exact-json.ts";
import { ByteWriter } from "./byte-writer.ts";

/** Writes the value of a row, which is not null; false when it has no text, and nothing is written. */
export type ValueText = (out: ByteWriter, row: number) => boolean;

const always =
  (write: (out: ByteWriter, row: number) => void): ValueText =>
  (out, row) => {
    write(out, row);
    return true;
  };

/** How the values of a column are written as JSON. */
export function valueText(column: Column): ValueText {
  const { encoding } = column;
  switch (encoding) {
    case "bool":
      return always((out, row) => out.ascii(column.values[row] === 1 ? "true" : "false"));
    case "int32":
      return always((out, row) => writeInteger(out, column.values[row] as number));
    case "int64":
      return always(longText(column.values));
    case "decimal64":
      return always(decimalText(column.values, column.scale));
    case "decimal128":
      return always((out, row) => {
        out.ascii(withPoint(int128At(column.values, row), column.scale));
      });
    case "float64":
      return (out, row) => writeDouble(out, column.values[row] as number);
    case "date32":
      return dateText(column.values);
    case "time64":
      return always(timeText(column.values));
    case "timestamp64":
      return timestampText(column.values, column.kind === "timestamptz");
    case "uuid128":
      return always((out, row) => writeUuid(out, column.values, row * 16));
    default:
      return textOf(encoding, column.bytes, column.offsets);
  }
}

/**
 * Values of a column as texts: as JSON has them, without the quotes. Valid until the next one;
 * undefined where JSON has none.
 */
export function textWriter(column: Column): (row: number) => Uint8Array | undefined {
  const out = new ByteWriter();
  const write = valueText(column);
  return (row) => {
    out.length = 0;
    if (!write(out, row)) return undefined;
    const text = out.written();
    if (text[0] !== quote) return text;
    if (column.encoding !== "utf8" && column.encoding !== "json") return text.subarray(1, -1);
    const value = JSON.parse(text.toString()) as string;
    return value.includes("\0") ? undefined : Buffer.from(value);
  };
}

function textOf(
  encoding: "utf8" | "binary" | "json" | "number",
  bytes: Uint8Array,
  offsets: Uint32Array,
): ValueText {
  const from = (row: number) => offsets[row] as number;
  const end = (row: number) => offsets[row + 1] as number;
  if (encoding === "utf8") return always((out, row) => writeText(out, bytes, from(row), end(row)));
  if (encoding === "json") return always((out, row) => out.copy(bytes, from(row), end(row)));
  if (encoding === "number")
    return (out, row) => {
      // NaN and Infinity end in a letter.
      if ((bytes[end(row) - 1] as number) > 0x39) return false;
      out.copy(bytes, from(row), end(row));
      return true;
    };
  return always((out, row) => {
    const value = Buffer.from(bytes.buffer, bytes.byteOffset + from(row), end(row) - from(row));
    out.ascii(`"${value.toString("base64")}"`);
  });
}

const quote = 0x22;
const minus = 0x2d;

function writeInteger(out: ByteWriter, value: number): void {
  if (value < 0) out.byte(minus);
  out.digits(Math.abs(value));
}

/** 64-bit integers by their halves: bigints are made only of those beyond 2^53. */
function longText(values: BigInt64Array): (out: ByteWriter, row: number) => void {
  const at = numberAt(values);
  return (out, row) => {
    const value = at(row);
    if (Number.isSafeInteger(value)) writeInteger(out, value);
    else out.ascii(String(values[row]));
  };
}

/** 64-bit integers as numbers: exact where they are safe integers. */
export function numberAt(values: BigInt64Array): (row: number) => number {
  const uppers = new Int32Array(values.buffer, values.byteOffset, values.length * 2);
  const lowers = new Uint32Array(values.buffer, values.byteOffset, values.length * 2);
  return (row) => (uppers[row * 2 + 1] as number) * 2 ** 32 + (lowers[row * 2] as number);
}

function decimalText(values: BigInt64Array, scale: number): (out: ByteWriter, row: number) => void {
  const at = numberAt(values);
  const unit = 10 ** scale;
  return (out, row) => {
    const value = at(row);
    if (!Number.isSafeInteger(value) || scale > 15)
      return out.ascii(withPoint(values[row] as bigint, scale));
    if (value < 0) out.byte(minus);
    const whole = Math.floor(Math.abs(value) / unit);
    out.digits(whole);
    if (scale === 0) return;
    out.byte(0x2e);
    out.digits(Math.abs(value) - whole * unit, scale);
  };
}

/** The 128-bit integer of a row. */
export function int128At(values: Uint8Array, row: number): bigint {
  const view = new DataView(values.buffer, values.byteOffset + row * 16, 16);
  return (view.getBigInt64(8, true) << 64n) | view.getBigUint64(0, true);
}

/** The decimal that this integer is at a scale. */
export function withPoint(value: bigint, scale: number): string {
  if (scale === 0) return String(value);
  const digits = String(value < 0n ? -value : value).padStart(scale + 1, "0");
  const point = digits.length - scale;
  return `${value < 0n ? "-" : ""}${digits.slice(0, point)}.${digits.slice(point)}`;
}

function writeDouble(out: ByteWriter, value: number): boolean {
  if (value !== 0 && Number.isInteger(value) && Math.abs(value) < 2 ** 31) {
    writeInteger(out, value);
    return true;
  }
  const text = numberText(value);
  if (text === undefined) return false;
  out.ascii(text);
  return true;
}

/** The days from 0001-01-01 to 9999-12-31. */
const firstDay = -719_162;
const lastDay = 2_932_896;
const isInCalendar = (day: number) => day >= firstDay && day <= lastDay;

function dateText(values: Int32Array): ValueText {
  return (out, row) => {
    const day = values[row] as number;
    if (!isInCalendar(day) || day === endlessDay) return false;
    out.byte(quote);
    writeDate(out, day);
    out.byte(quote);
    return true;
  };
}

/**
 * Year, month and day of a day since 1970-01-01.
 * @see "chrono-Compatible Low-Level Date Algorithms", Howard Hinnant, civil_from_days
 */
function writeDate(out: ByteWriter, day: number): void {
  const shifted = day + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra =
    ((dayOfEra -
      ((dayOfEra / 1_460) | 0) +
      ((dayOfEra / 36_524) | 0) -
      ((dayOfEra / 146_096) | 0)) /
      365) |
    0;
  const dayOfYear = dayOfEra - (365 * yearOfEra + ((yearOfEra / 4) | 0) - ((yearOfEra / 100) | 0));
  const month = ((5 * dayOfYear + 2) / 153) | 0;
  const isNextYear = month >= 10;
  out.digits(yearOfEra + era * 400 + (isNextYear ? 1 : 0), 4);
  out.byte(minus);
  out.digits(isNextYear ? month - 9 : month + 3, 2);
  out.byte(minus);
  out.digits(dayOfYear - (((153 * month + 2) / 5) | 0) + 1, 2);
}

function timeText(values: BigInt64Array): (out: ByteWriter, row: number) => void {
  const at = numberAt(values);
  return (out, row) => {
    const us = at(row);
    const seconds = Math.floor(us / 1e6);
    out.byte(quote);
    writeTime(out, seconds, us - seconds * 1e6);
    out.byte(quote);
  };
}

function writeTime(out: ByteWriter, seconds: number, us: number): void {
  out.digits((seconds / 3600) | 0, 2);
  out.byte(0x3a);
  out.digits(((seconds / 60) | 0) % 60, 2);
  out.byte(0x3a);
  out.digits(seconds % 60, 2);
  if (us === 0) return;
  out.byte(0x2e);
  let digits = 6;
  let rest = us;
  for (; rest % 10 === 0; digits--) rest /= 10;
  out.digits(rest, digits);
}

const daySeconds = 86_400;

function timestampText(values: BigInt64Array, isInstant: boolean): ValueText {
  const uppers = new Int32Array(values.buffer, values.byteOffset, values.length * 2);
  const lowers = new Uint32Array(values.buffer, values.byteOffset, values.length * 2);
  return (out, row) => {
    // 2^32 µs are 4294 s and 967296 µs: no part is beyond 2^53.
    const upper = uppers[row * 2 + 1] as number;
    const us = upper * 967_296 + (lowers[row * 2] as number);
    const carried = Math.floor(us / 1e6);
    const seconds = upper * 4_294 + carried;
    const day = Math.floor(seconds / daySeconds);
    if (!isInCalendar(day)) return false;
    out.byte(quote);
    writeDate(out, day);
    out.byte(0x54);
    writeTime(out, seconds - day * daySeconds, us - carried * 1e6);
    if (isInstant) out.byte(0x5a);
    out.byte(quote);
    return true;
  };
}

/** True for the two instants that stand for infinity. */
export const isEndless = (us: bigint) => us === endlessInstant || us === -endlessInstant;

const hex = Buffer.from("0123456789abcdef");

function writeUuid(out: ByteWriter, values: Uint8Array, from: number): void {
  out.reserve(38);
  const { bytes } = out;
  let at = out.length;
  bytes[at++] = quote;
  for (let index = 0; index < 16; index++) {
    if (index === 4 || index === 6 || index === 8 || index === 10) bytes[at++] = minus;
    const value = values[from + index] as number;
    bytes[at++] = hex[value >> 4] as number;
    bytes[at++] = hex[value & 15] as number;
  }
  bytes[at++] = quote;
  out.length = at;
}

const backslash = 0x5c;
/** The letter behind the backslash, for what JSON escapes by one letter. */
const shortEscapes = new Map(
  Object.entries({
    '"': '"',
    "\\": "\\",
    "\b": "b",
    "\f": "f",
    "\n": "n",
    "\r": "r",
    "\t": "t",
  }).map(([character, letter]) => [character.charCodeAt(0), letter.charCodeAt(0)]),
);

/** UTF-8 as a JSON string, escaped as JSON.stringify does. */
function writeText(out: ByteWriter, from: Uint8Array, start: number, end: number): void {
  out.reserve(2 + (end - start) * 6);
  const { bytes } = out;
  let at = out.length;
  bytes[at++] = quote;
  for (let index = start; index < end; index++) {
    const byte = from[index] as number;
    if (byte >= 0x20 && byte !== quote && byte !== backslash) {
      bytes[at++] = byte;
      continue;
    }
    bytes[at++] = backslash;
    const letter = shortEscapes.get(byte);
    if (letter !== undefined) {
      bytes[at++] = letter;
      continue;
    }
    bytes[at++] = 0x75;
    bytes[at++] = 0x30;
    bytes[at++] = 0x30;
    bytes[at++] = hex[byte >> 4] as number;
    bytes[at++] = hex[byte & 15] as number;
  }
  bytes[at++] = quote;
  out.length = at;
}
