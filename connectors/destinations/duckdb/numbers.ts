/** The type that a column of numbers needs: no digit of them is lost. */
import { type BatchColumn, int128At, isValid } from "svc-connectors/destination";
import {
  isFiniteText,
  type NumberParts,
  numberTexts,
  partsOf,
  plainNumber,
} from "./number-texts.ts";
import type { Texts } from "./strings.ts";
import {
  bothDigits,
  type Digits,
  decimalType,
  digitsOf,
  hasRoom,
  integerTypes,
  openDecimal,
} from "./types.ts";

export interface NumberNeeds extends Digits {
  /** Of the narrowest integer type: 16, 32, 64 or 128; Infinity where none holds them. */
  readonly bits: number;
  /** A double holds each of them. */
  readonly isDouble: boolean;
}

/** No value at all. */
export const noNeeds: NumberNeeds = { integerDigits: 0, scale: 0, bits: 16, isDouble: true };

export const allNeeds = (one: NumberNeeds, other: NumberNeeds): NumberNeeds => ({
  ...bothDigits(one, other),
  bits: Math.max(one.bits, other.bits),
  isDouble: one.isDouble && other.isDouble,
});

/** Some value is none that a type but text could hold. */
export const textNeeds: NumberNeeds = {
  integerDigits: Number.POSITIVE_INFINITY,
  scale: 0,
  bits: Number.POSITIVE_INFINITY,
  isDouble: false,
};

function needsOfText(text: string): NumberNeeds {
  if (!isFiniteText(text)) return noNeeds;
  const parts = partsOf(text);
  if (!parts) return textNeeds;
  const { digits, scale } = parts;
  const integerDigits = Math.max(digits.length - scale, 0);
  const isInteger = scale <= 0;
  return {
    integerDigits,
    scale: Math.max(scale, 0),
    bits: isInteger && integerDigits <= 39 ? bitsOf(BigInt(plainNumber(text))) : beyond,
    isDouble: isSameDouble(text, parts),
  };
}

const beyond = Number.POSITIVE_INFINITY;

/** Whether the number that a double makes of it has the same digits. */
function isSameDouble(text: string, { digits, scale }: NumberParts): boolean {
  const value = Number(text);
  if (!Number.isFinite(value)) return false;
  if (digits.length <= 15) return value !== 0 || digits === "";
  if (scale <= 0) return BigInt(value) === BigInt(plainNumber(text));
  const double = partsOf(String(value));
  return double?.digits === digits && double.scale === scale;
}

function bitsOf(value: bigint): number {
  for (const bits of [16, 32, 64, 128]) if (BigInt.asIntN(bits, value) === value) return bits;
  return beyond;
}

/**
 * The needs of integers of a scale, from the least to the greatest.
 * @param isDouble whether a double holds each
 */
function needsOfRange(least: bigint, greatest: bigint, scale: number, isDouble: boolean) {
  const digits = Math.max(...[least, greatest].map((one) => String(one).replace("-", "").length));
  return {
    integerDigits: Math.max(digits - scale, 0),
    scale,
    bits: scale === 0 ? Math.max(bitsOf(least), bitsOf(greatest)) : beyond,
    isDouble,
  };
}

/** The needs of a column's numbers, by their greatest and their scale. */
function roughNeeds(column: BatchColumn, rowCount: number): NumberNeeds | undefined {
  switch (column.encoding) {
    case "int32": {
      let least = 0;
      let greatest = 0;
      for (const value of column.values) {
        if (value < least) least = value;
        else if (value > greatest) greatest = value;
      }
      return needsOfRange(BigInt(least), BigInt(greatest), 0, true);
    }
    case "int64":
      return needsOfLongs(column.values, 0);
    case "decimal64":
      return needsOfLongs(column.values, column.scale);
    case "decimal128": {
      let least = 0n;
      let greatest = 0n;
      for (let row = 0; row < rowCount; row++) {
        const value = int128At(column.values, row);
        if (value < least) least = value;
        else if (value > greatest) greatest = value;
      }
      return needsOfRange(least, greatest, column.scale, isShort(least) && isShort(greatest));
    }
    case "number":
      return needsOfPlain(column, rowCount);
    default:
      return undefined;
  }
}

/** Below 10^15: a double holds it, with a point anywhere. */
const isShort = (value: bigint) => value > -(10n ** 15n) && value < 10n ** 15n;

/** Compares halves: bigints are made of the greatest only. */
function needsOfLongs(values: BigInt64Array, scale: number): NumberNeeds {
  const uppers = new Int32Array(values.buffer, values.byteOffset, values.length * 2);
  const lowers = new Uint32Array(values.buffer, values.byteOffset, values.length * 2);
  let [least, greatest, leastRow, greatestRow] = [0, 0, -1, -1];
  for (let row = 0; row < values.length; row++) {
    // Beyond 2^53 it is near enough: the greatest of those is looked for below.
    const value = (uppers[row * 2 + 1] as number) * 2 ** 32 + (lowers[row * 2] as number);
    if (value < least) {
      least = value;
      leastRow = row;
    } else if (value > greatest) {
      greatest = value;
      greatestRow = row;
    }
  }
  if (least > -(2 ** 53) && greatest < 2 ** 53)
    return needsOfRange(
      BigInt(least),
      BigInt(greatest),
      scale,
      scale === 0 || Math.max(-least, greatest) < 1e15,
    );
  let [low, high] = [values[leastRow] ?? 0n, values[greatestRow] ?? 0n];
  for (const value of values) {
    if (value < low) low = value;
    else if (value > high) high = value;
  }
  return needsOfRange(low, high, scale, false);
}

const signs = { minus: 0x2d, point: 0x2e, zero: 0x30, nine: 0x39 };

/** At least what numbers of digits alone need; undefined where one is written in another way. */
function needsOfPlain({ bytes, offsets }: Texts, rowCount: number): NumberNeeds | undefined {
  const behindDigits = (from: number, end: number) => {
    let at = from;
    while (at < end && (bytes[at] as number) >= signs.zero && (bytes[at] as number) <= signs.nine)
      at++;
    return at;
  };
  let integerDigits = 0;
  let scale = 0;
  for (let row = 0; row < rowCount; row++) {
    const begin = offsets[row] as number;
    const end = offsets[row + 1] as number;
    if (begin === end) continue;
    let at = bytes[begin] === signs.minus ? begin + 1 : begin;
    const point = behindDigits(at, end);
    if (point === at) return undefined;
    while (at < point && bytes[at] === signs.zero) at++;
    integerDigits = Math.max(integerDigits, point - at);
    if (point === end) continue;
    const isFraction = bytes[point] === signs.point && point + 1 < end;
    if (!isFraction || behindDigits(point + 1, end) < end) return undefined;
    scale = Math.max(scale, end - point - 1);
  }
  const wide = [16, 32, 64, 128].find((_, index) => integerDigits <= (safeDigits[index] as number));
  return {
    integerDigits,
    scale,
    bits: scale > 0 ? beyond : (wide ?? beyond),
    isDouble: integerDigits + scale <= 15,
  };
}

/** Digits that 16, 32, 64 and 128 bits hold, whichever they are. */
const safeDigits = [4, 9, 18, 38];

function exactNeeds(column: BatchColumn, rowCount: number): NumberNeeds {
  const textOf = numberTexts(column, rowCount);
  let needs = noNeeds;
  for (let row = 0; row < rowCount; row++) {
    const text = textOf(row);
    if (text !== undefined) needs = allNeeds(needs, needsOfText(text));
  }
  return needs;
}

function hasValues(column: BatchColumn, rowCount: number): boolean {
  for (let row = 0; row < rowCount; row++) if (isValid(column, row)) return true;
  return false;
}

/** True where each value of the encoding fits the type, whatever it is. */
function alwaysFits({ encoding }: BatchColumn, type: string): boolean {
  if (encoding === "int32") return type !== "SMALLINT" && !type.startsWith("DECIMAL");
  if (encoding === "int64") return type === "BIGINT" || type === "HUGEINT";
  return encoding === "float64" && type === "DOUBLE";
}

/** The needs of a column's numbers beyond this type; undefined when it holds all of them. */
export function numbersBeyond(
  column: BatchColumn,
  rowCount: number,
  type: string,
): NumberNeeds | undefined {
  if (alwaysFits(column, type)) return undefined;
  if (type === openDecimal && !hasValues(column, rowCount)) return undefined;
  const rough = roughNeeds(column, rowCount);
  // An open decimal has the scale that the values are given with; texts may have zeros behind it.
  if (rough && type === openDecimal && column.encoding !== "number") return rough;
  if (rough && fits(type, rough)) return undefined;
  const exact = exactNeeds(column, rowCount);
  return fits(type, exact) ? undefined : exact;
}

export function fits(type: string, needs: NumberNeeds): boolean {
  if (type === "VARCHAR" || type === "JSON") return true;
  if (type === "DOUBLE") return needs.isDouble;
  const index = integerTypes.indexOf(type);
  if (index >= 0) return needs.bits <= 16 << index;
  const digits = digitsOf(type);
  return digits !== undefined && hasRoom(digits, needs);
}

/** The narrowest type that holds what the type holds, and the values besides. */
export function widened(type: string, needs: NumberNeeds): string {
  if (type === openDecimal) return decimalType(needs);
  if (fits(type, needs)) return type;
  if (type === "DOUBLE") return "VARCHAR";
  const wider = integerTypes
    .slice(integerTypes.indexOf(type) + 1)
    .find((one) => integerTypes.includes(type) && fits(one, needs));
  if (integerTypes.includes(type)) return wider ?? "VARCHAR";
  const digits = digitsOf(type);
  return digits ? decimalType(bothDigits(digits, needs)) : "VARCHAR";
}
