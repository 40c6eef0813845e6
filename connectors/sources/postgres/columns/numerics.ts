/**
 * numeric: digits of base 10,000.
 * @see numeric_send in src/backend/utils/adt/numeric.c of PostgreSQL
 */
import { createLongs, fixedValues } from "./fixed.ts";
import { type TextBytes, writtenValues } from "./texts.ts";
import { type Values, widening } from "./values.ts";

const signs = { negative: 0x4000, nan: 0xc000, infinity: 0xd000, negativeInfinity: 0xf000 };
const zero = 0x30;

/** numeric of any precision, with all its digits. */
export const numbers = (capacity: number): Values =>
  writtenValues({
    capacity,
    encoding: "number",
    growth: writtenBytes,
    write: (out, { view }, start) => writeNumeric(out, view, start),
  });

/** Bytes of the digits, at most. */
const writtenBytes = (view: DataView, at: number) =>
  2 + Math.max(1, view.getInt16(at + 2) + 1) * 4 + view.getUint16(at + 6) + 4;

/** The text that the server would write. */
export function writeNumeric(out: TextBytes, view: DataView, at: number): void {
  const count = view.getUint16(at);
  const weight = view.getInt16(at + 2);
  const sign = view.getUint16(at + 4);
  const scale = view.getUint16(at + 6);
  if (sign > signs.negative) {
    out.text(wordOf(sign));
    return;
  }
  out.reserve(writtenBytes(view, at));
  const { bytes } = out;
  let to = out.length;
  const groupAt = (index: number) =>
    index >= 0 && index < count ? view.getInt16(at + 8 + index * 2) : 0;
  if (sign === signs.negative) bytes[to++] = 0x2d;
  if (weight < 0) bytes[to++] = zero;
  for (let index = 0; index <= weight; index++) {
    const group = groupAt(index);
    if (index > 0 || group >= 1000) bytes[to++] = zero + ((group / 1000) | 0);
    if (index > 0 || group >= 100) bytes[to++] = zero + (((group / 100) | 0) % 10);
    if (index > 0 || group >= 10) bytes[to++] = zero + (((group / 10) | 0) % 10);
    bytes[to++] = zero + (group % 10);
  }
  if (scale > 0) {
    bytes[to++] = 0x2e;
    const end = to + scale;
    for (let index = weight + 1; to < end; index++) {
      const group = groupAt(index);
      bytes[to++] = zero + ((group / 1000) | 0);
      bytes[to++] = zero + (((group / 100) | 0) % 10);
      bytes[to++] = zero + (((group / 10) | 0) % 10);
      bytes[to++] = zero + (group % 10);
    }
    to = end;
  }
  out.length = to;
}

const wordOf = (sign: number) =>
  sign === signs.nan ? "NaN" : sign === signs.infinity ? "Infinity" : "-Infinity";

/** Infinity and NaN, which is behind it in PostgreSQL's order. */
export const isEndlessNumeric = (view: DataView, at: number) =>
  view.getUint16(at + 4) === signs.nan || view.getUint16(at + 4) === signs.infinity;

/** Beyond this, doubles are not exact in what is done with them here. */
const safe = 2 ** 50;
const powers = Array.from({ length: 16 }, (_, power) => 10 ** power);

/**
 * The number × 10^scale, where a double holds it without doubt; else NaN.
 */
function smallScaled(view: DataView, at: number, scale: number): number {
  const count = view.getUint16(at);
  const sign = view.getUint16(at + 4);
  if (count > 4 || sign > signs.negative) return Number.NaN;
  let value = 0;
  for (let index = 0; index < count; index++)
    value = value * 10_000 + view.getInt16(at + 8 + index * 2);
  if (count === 0) return 0;
  const power = (view.getInt16(at + 2) - count + 1) * 4 + scale;
  if (!(value < safe) || power > 15 || power < -15) return Number.NaN;
  if (power >= 0) value *= powers[power] as number;
  else {
    value /= powers[-power] as number;
    if (!Number.isInteger(value)) return Number.NaN;
  }
  if (!(value < safe)) return Number.NaN;
  return sign === 0 ? value : -value;
}

/** The number × 10^scale; undefined when it has no such integer below the limit. */
function largeScaled(view: DataView, at: number, scale: number, limit: bigint): bigint | undefined {
  const count = view.getUint16(at);
  const sign = view.getUint16(at + 4);
  if (count > 12 || sign > signs.negative) return undefined;
  let value = 0n;
  for (let index = 0; index < count; index++)
    value = value * 10_000n + BigInt(view.getInt16(at + 8 + index * 2));
  if (value === 0n) return 0n;
  const power = (view.getInt16(at + 2) - count + 1) * 4 + scale;
  if (power > 40 || power < -60) return undefined;
  if (power >= 0) value *= 10n ** BigInt(power);
  else {
    const divisor = 10n ** BigInt(-power);
    if (value % divisor !== 0n) return undefined;
    value /= divisor;
  }
  if (value >= limit) return undefined;
  return sign === 0 ? value : -value;
}

const two32 = 2 ** 32;

const isNaNumeric = (view: DataView, at: number) => view.getUint16(at + 4) === signs.nan;

export interface DecimalOptions {
  readonly scale: number;
  /** Whether its schema calls it an integer. */
  readonly isInteger: boolean;
  /** NaN, which is no integer, becomes null: not in a key. */
  readonly losesNaN: boolean;
}

/** numeric(p, s) with up to 18 digits. */
export function shortDecimals(
  capacity: number,
  { scale, isInteger, losesNaN }: DecimalOptions,
): Values {
  const lost: number[] = [];
  const { values, halves } = createLongs(capacity);
  const limit = 10n ** 18n;
  const usual = fixedValues({
    wireBytes: 0,
    rowBytes: 8,
    capacity,
    lost,
    get: (rowCount) =>
      isInteger
        ? { encoding: "int64", values: values.subarray(0, rowCount) }
        : { encoding: "decimal64", scale, values: values.subarray(0, rowCount) },
    fill({ view, starts }, from, count, row, validity) {
      for (let index = 0; index < count; index++) {
        const at = starts[from + index] as number;
        const to = row + index;
        const isLost = at !== 0 && losesNaN && isNaNumeric(view, at);
        if (isLost) lost.push(to);
        if (at === 0 || isLost) {
          halves[to * 2] = 0;
          halves[to * 2 + 1] = 0;
          validity.drop(to);
          continue;
        }
        const value = smallScaled(view, at, scale);
        if (!Number.isNaN(value)) {
          halves[to * 2] = value | 0;
          halves[to * 2 + 1] = Math.floor(value / two32);
        } else {
          const large = largeScaled(view, at, scale, limit);
          if (large === undefined) return index;
          values[to] = large;
        }
      }
      return count;
    },
  });
  return widening(usual, numbers(capacity));
}

/** numeric(p, s) with up to 38 digits. */
export function longDecimals(capacity: number, { scale, losesNaN }: DecimalOptions): Values {
  const lost: number[] = [];
  const { values: pairs, halves } = createLongs(capacity * 2);
  const bytes = new Uint8Array(pairs.buffer);
  const limit = 10n ** 38n;
  const usual = fixedValues({
    wireBytes: 0,
    rowBytes: 16,
    capacity,
    lost,
    get: (rowCount) => ({
      encoding: "decimal128",
      scale,
      values: bytes.subarray(0, rowCount * 16),
    }),
    fill({ view, starts }, from, count, row, validity) {
      for (let index = 0; index < count; index++) {
        const at = starts[from + index] as number;
        const to = row + index;
        const isLost = at !== 0 && losesNaN && isNaNumeric(view, at);
        if (isLost) lost.push(to);
        const isNull = at === 0 || isLost;
        if (isNull) validity.drop(to);
        const value = isNull ? 0 : smallScaled(view, at, scale);
        if (!Number.isNaN(value)) {
          const sign = value < 0 ? -1 : 0;
          halves[to * 4] = value | 0;
          halves[to * 4 + 1] = Math.floor(value / two32);
          halves[to * 4 + 2] = sign;
          halves[to * 4 + 3] = sign;
        } else {
          const large = largeScaled(view, at, scale, limit);
          if (large === undefined) return index;
          pairs[to * 2] = BigInt.asIntN(64, large);
          pairs[to * 2 + 1] = large >> 64n;
        }
      }
      return count;
    },
  });
  return widening(usual, numbers(capacity));
}
