/**
 * numeric in the binary form of COPY: a count of digits, the weight of the first, the sign, the
 * decimals to show, and digits to the base of 10,000.
 * @see numeric_send of PostgreSQL's numeric.c
 */
import type { GrowingBytes } from "./growing-bytes.ts";

const signs = { positive: 0, negative: 0x4000, nan: 0xc000, infinity: 0xd000, minus: 0xf000 };
const headBytes = 8;
const base = 10_000;
const bigBase = 10_000n;

/** Digits to the base of an integer of 128 bits × 1,000, the last first. */
const digits = new Uint16Array(12);

/** An integer × 10^-scale. */
export function putDecimal(out: GrowingBytes, value: number | bigint, scale: number): void {
  const isNegative = value < 0;
  let count = 0;
  // The digits of the fraction fill whole digits to the base.
  const padding = (4 - (scale & 3)) & 3;
  const shift = padding === 0 ? 1 : padding === 1 ? 10 : padding === 2 ? 100 : 1_000;
  const absolute = isNegative ? -value : value;
  if (typeof absolute === "number" && absolute * shift <= Number.MAX_SAFE_INTEGER) {
    let rest = absolute * shift;
    // A rest of 31 bits is divided as an integer.
    while (rest > 0x7fffffff) {
      const quotient = Math.floor(rest / base);
      digits[count++] = rest - quotient * base;
      rest = quotient;
    }
    for (let small = rest | 0; small > 0; ) {
      const quotient = (small / base) | 0;
      digits[count++] = small - quotient * base;
      small = quotient;
    }
  } else {
    for (let rest = BigInt(absolute) * BigInt(shift); rest > 0n; rest /= bigBase)
      digits[count++] = Number(rest % bigBase);
  }
  let from = 0;
  while (from < count && digits[from] === 0) from++;
  const weight = count - 1 - (scale + padding) / 4;
  putHead(out, count - from, weight, isNegative, scale);
  for (let at = count - 1; at >= from; at--) out.int16(digits[at] as number);
}

/** Makes room for the digits too. */
function putHead(
  out: GrowingBytes,
  count: number,
  weight: number,
  isNegative: boolean,
  scale: number,
): void {
  out.reserve(headBytes + count * 2);
  out.int16(count);
  out.int16(count === 0 ? 0 : weight);
  out.int16(isNegative && count > 0 ? signs.negative : signs.positive);
  out.int16(scale);
}

/**
 * Longest text that is written; PostgreSQL's numeric has 16,383 decimals and more digits before.
 */
const maxTextLength = 10_000;
const maxPower = 5_000;

const [zero, point, minus, letterE, letterN] = [0x30, 0x2e, 0x2d, 0x65, 0x4e];

/**
 * The text of a JSON number, NaN, Infinity or -Infinity, from one place to another.
 * @returns false, and writes nothing, when numeric cannot hold it
 */
export function putNumber(
  out: GrowingBytes,
  text: Uint8Array,
  from: number,
  end: number,
  hasInfinity: boolean,
): boolean {
  const isNegative = text[from] === minus;
  if (isWord(text, end)) {
    if (text[from] !== letterN && !hasInfinity) return false;
    const sign = text[from] === letterN ? signs.nan : isNegative ? signs.minus : signs.infinity;
    out.reserve(headBytes);
    for (const part of [0, 0, sign, 0]) out.int16(part);
    return true;
  }
  if (end - from > maxTextLength) return false;
  const start = isNegative ? from + 1 : from;
  let pointAt = end;
  let mantissaEnd = end;
  let first = -1;
  let last = -1;
  for (let at = start; at < end; at++) {
    const byte = text[at] as number;
    if (byte === point) pointAt = at;
    else if ((byte | 0x20) === letterE) {
      mantissaEnd = at;
      break;
    } else if (byte !== zero) {
      last = at;
      if (first === -1) first = at;
    }
  }
  const power = mantissaEnd === end ? 0 : powerOf(text, mantissaEnd + 1, end);
  if (Math.abs(power) > maxPower) return false;
  // The power of ten of the digit before the point.
  const wholeEnd = Math.min(pointAt, mantissaEnd);
  const scale = Math.max(0, mantissaEnd - Math.min(wholeEnd + 1, mantissaEnd) - power);
  if (first === -1) {
    putHead(out, 0, 0, false, scale);
    return true;
  }
  const powerAt = (at: number) => power + (at < wholeEnd ? wholeEnd - 1 - at : wholeEnd - at);
  const weight = powerAt(first) >> 2;
  putHead(out, weight - (powerAt(last) >> 2) + 1, weight, isNegative, scale);
  let digit = 0;
  let place = powerAt(first);
  for (let at = first; at <= last; at++) {
    if (at === pointAt) continue;
    digit = digit * 10 + (text[at] as number) - zero;
    if ((place-- & 3) !== 0) continue;
    out.int16(digit);
    digit = 0;
  }
  // The last digit to the base may lack its zeros.
  for (; (place & 3) !== 3; place--) {
    digit *= 10;
    if ((place & 3) === 0) out.int16(digit);
  }
  return true;
}

/** NaN and Infinity end in a letter. */
const isWord = (text: Uint8Array, end: number) => (text[end - 1] as number) > 0x39;

/** More than any that is written, however many digits it has. */
function powerOf(text: Uint8Array, from: number, end: number): number {
  let value = 0;
  let sign = 1;
  for (let at = from; at < end; at++) {
    const byte = text[at] as number;
    if (byte === minus) sign = -1;
    else if (byte >= zero) value = Math.min(value * 10 + byte - zero, maxPower + 1);
  }
  return sign * value;
}
