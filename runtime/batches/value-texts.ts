/**
 * Values of columns as JSON. What JSON cannot say has no text: NaN and infinity, dates before the
 * year 1 and after 9999.
 */
import { type Column, endlessDay, endlessInstant } from "../contract/batch.ts";
import { numberText } from "../wire/exact-json.ts";
import { allocate, type LineBytes, putAscii, putDigits } from "./line-bytes.ts";
import { textValues } from "./text-texts.ts";

/**
 * Writes the value of a row, which is not null, and gives where it ends; -1 when it has no text.
 */
export type ValueText = (into: LineBytes, at: number, row: number) => number;

export interface ValueTexts {
  readonly write: ValueText;
  /** Bytes of the texts of all values, at most. */
  readonly bytes: number;
}

/** How the values of a column are written as JSON. */
export function valueTexts(column: Column, rowCount: number): ValueTexts {
  if ("offsets" in column) return textValues(column, rowCount);
  const [width, write] = fixedTexts(column);
  return { write, bytes: width * rowCount };
}

/** The longest text of a value, and how they are written. */
function fixedTexts(
  column: Exclude<Column, { offsets: Uint32Array }>,
): readonly [width: number, write: ValueText] {
  const { encoding } = column;
  switch (encoding) {
    case "bool": {
      const { values } = column;
      return [5, (into, at, row) => putAscii(into, at, values[row] === 1 ? "true" : "false")];
    }
    case "int32": {
      const { values } = column;
      return [11, (into, at, row) => putInteger(into, at, values[row] as number)];
    }
    case "int64":
      return [20, longText(column.values)];
    case "decimal64":
      return [21, decimalText(column.values, column.scale)];
    case "decimal128": {
      const { values, scale } = column;
      return [41, (into, at, row) => putAscii(into, at, withPoint(int128At(values, row), scale))];
    }
    case "float64": {
      const { values } = column;
      return [25, (into, at, row) => putDouble(into, at, values[row] as number)];
    }
    case "date32":
      return [12, dateText(column.values)];
    case "time64":
      return [17, timeText(column.values)];
    case "timestamp64":
      return [29, timestampText(column.values, column.kind === "timestamptz")];
    case "uuid128": {
      const { values } = column;
      return [38, (into, at, row) => putUuid(into, at, values, row * 16)];
    }
  }
}

/**
 * Values of a column as texts: as JSON has them, without the quotes. Valid until the next one;
 * undefined where JSON has none.
 */
export function textWriter(column: Column): (row: number) => Uint8Array | undefined {
  const rowCount = "offsets" in column ? column.offsets.length - 1 : 0;
  const { write, bytes } = valueTexts(column, rowCount);
  const into = allocate(Math.max(bytes, 64) + 8);
  return (row) => {
    const end = write(into, 0, row);
    if (end === -1) return undefined;
    const text = Buffer.from(into.bytes.buffer, 0, end);
    if (text[0] !== quote) return text;
    if (column.encoding !== "utf8" && column.encoding !== "json") return text.subarray(1, -1);
    const value = JSON.parse(text.toString()) as string;
    return value.includes("\0") ? undefined : Buffer.from(value);
  };
}

const quote = 0x22;
const minus = 0x2d;

function putInteger(into: LineBytes, start: number, value: number): number {
  if (value >= 0) return putDigits(into, start, value);
  into.bytes[start] = minus;
  return putDigits(into, start + 1, -value);
}

/** 64-bit integers by their halves: bigints are made only of those beyond 2^53. */
function longText(values: BigInt64Array): ValueText {
  const uppers = new Int32Array(values.buffer, values.byteOffset, values.length * 2);
  const lowers = new Uint32Array(values.buffer, values.byteOffset, values.length * 2);
  return (into, at, row) => {
    const value = (uppers[row * 2 + 1] as number) * 2 ** 32 + (lowers[row * 2] as number);
    return Number.isSafeInteger(value)
      ? putInteger(into, at, value)
      : putAscii(into, at, String(values[row]));
  };
}

/** 64-bit integers as numbers: exact where they are safe integers. */
export function numberAt(values: BigInt64Array): (row: number) => number {
  const uppers = new Int32Array(values.buffer, values.byteOffset, values.length * 2);
  const lowers = new Uint32Array(values.buffer, values.byteOffset, values.length * 2);
  return (row) => (uppers[row * 2 + 1] as number) * 2 ** 32 + (lowers[row * 2] as number);
}

function decimalText(values: BigInt64Array, scale: number): ValueText {
  const valueAt = numberAt(values);
  const unit = 10 ** scale;
  return (into, start, row) => {
    const value = valueAt(row);
    if (!Number.isSafeInteger(value) || scale > 15)
      return putAscii(into, start, withPoint(values[row] as bigint, scale));
    let at = start;
    if (value < 0) into.bytes[at++] = minus;
    const whole = Math.floor(Math.abs(value) / unit);
    at = putDigits(into, at, whole);
    if (scale === 0) return at;
    into.bytes[at++] = 0x2e;
    return putDigits(into, at, Math.abs(value) - whole * unit, scale);
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

function putDouble(into: LineBytes, at: number, value: number): number {
  const whole = value | 0;
  if (whole === value && whole !== 0) return putInteger(into, at, whole);
  const text = numberText(value);
  return text === undefined ? -1 : putAscii(into, at, text);
}

/** The days from 0001-01-01 to 9999-12-31. */
const firstDay = -719_162;
const lastDay = 2_932_896;
const isInCalendar = (day: number) => day >= firstDay && day <= lastDay;

function dateText(values: Int32Array): ValueText {
  return (into, start, row) => {
    const day = values[row] as number;
    if (!isInCalendar(day) || day === endlessDay) return -1;
    into.bytes[start] = quote;
    const at = putDate(into, start + 1, day);
    into.bytes[at] = quote;
    return at + 1;
  };
}

/**
 * Year, month and day of a day since 1970-01-01.
 * @see "chrono-Compatible Low-Level Date Algorithms", Howard Hinnant, civil_from_days
 */
function putDate(into: LineBytes, start: number, day: number): number {
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
  let at = putDigits(into, start, yearOfEra + era * 400 + (isNextYear ? 1 : 0), 4);
  into.bytes[at++] = minus;
  at = putTwo(into, at, isNextYear ? month - 9 : month + 3);
  into.bytes[at++] = minus;
  return putTwo(into, at, dayOfYear - (((153 * month + 2) / 5) | 0) + 1);
}

/** Two digits. */
function putTwo({ bytes }: LineBytes, at: number, value: number): number {
  const tens = (value / 10) | 0;
  bytes[at] = 48 + tens;
  bytes[at + 1] = 48 + value - tens * 10;
  return at + 2;
}

function timeText(values: BigInt64Array): ValueText {
  const valueAt = numberAt(values);
  return (into, start, row) => {
    const us = valueAt(row);
    const seconds = Math.floor(us / 1e6);
    into.bytes[start] = quote;
    const at = putTime(into, start + 1, seconds, us - seconds * 1e6);
    into.bytes[at] = quote;
    return at + 1;
  };
}

function putTime(into: LineBytes, start: number, seconds: number, us: number): number {
  const { bytes } = into;
  const minutes = (seconds / 60) | 0;
  const hours = (minutes / 60) | 0;
  let at = putTwo(into, start, hours);
  bytes[at++] = 0x3a;
  at = putTwo(into, at, minutes - hours * 60);
  bytes[at++] = 0x3a;
  at = putTwo(into, at, seconds - minutes * 60);
  if (us === 0) return at;
  bytes[at++] = 0x2e;
  let digits = 6;
  let rest = us;
  for (; rest % 10 === 0; digits--) rest /= 10;
  return putDigits(into, at, rest, digits);
}

const daySeconds = 86_400;

function timestampText(values: BigInt64Array, isInstant: boolean): ValueText {
  const uppers = new Int32Array(values.buffer, values.byteOffset, values.length * 2);
  const lowers = new Uint32Array(values.buffer, values.byteOffset, values.length * 2);
  return (into, start, row) => {
    // 2^32 µs are 4294 s and 967296 µs: no part is beyond 2^53.
    const upper = uppers[row * 2 + 1] as number;
    const us = upper * 967_296 + (lowers[row * 2] as number);
    const carried = Math.floor(us / 1e6);
    const seconds = upper * 4_294 + carried;
    const day = Math.floor(seconds / daySeconds);
    if (!isInCalendar(day)) return -1;
    const { bytes } = into;
    bytes[start] = quote;
    let at = putDate(into, start + 1, day);
    bytes[at++] = 0x54;
    at = putTime(into, at, seconds - day * daySeconds, us - carried * 1e6);
    if (isInstant) bytes[at++] = 0x5a;
    bytes[at++] = quote;
    return at;
  };
}

/** True for the two instants that stand for infinity. */
export const isEndless = (us: bigint) => us === endlessInstant || us === -endlessInstant;

const hex = Buffer.from("0123456789abcdef");

function putUuid({ bytes }: LineBytes, start: number, values: Uint8Array, from: number): number {
  let at = start;
  bytes[at++] = quote;
  for (let index = 0; index < 16; index++) {
    if (index === 4 || index === 6 || index === 8 || index === 10) bytes[at++] = minus;
    const value = values[from + index] as number;
    bytes[at++] = hex[value >> 4] as number;
    bytes[at++] = hex[value & 15] as number;
  }
  bytes[at++] = quote;
  return at;
}
