/**
 * numeric in the binary form of COPY: a count of digits, the weight of the first, the sign, the
 * decimals to show, and digits to the base of 10,000.
 * @see numeric_send of PostgreSQL's numeric.c
 */
import type { BinaryRows } from "./binary-rows.ts";

const signs = { positive: 0, negative: 0x4000, nan: 0xc000, infinity: 0xd000, minus: 0xf000 };
const base = 10_000;
const bigBase = 10_000n;

/** Digits to the base, the last first. */
const digits: number[] = [];

/** Bytes that the value of an integer of up to 2^64, or 2^127, takes at most. */
export const maxDecimalBytes = 4 + 8 + 2 * 12;

/** An integer × 10^-scale. */
export function putDecimal(out: BinaryRows, value: number | bigint, scale: number): void {
  const isNegative = value < 0;
  digits.length = 0;
  // The digits of the fraction fill whole digits to the base.
  const padding = (4 - (scale & 3)) & 3;
  const shift = 10 ** padding;
  const absolute = isNegative ? -value : value;
  if (typeof absolute === "number" && absolute * shift <= Number.MAX_SAFE_INTEGER) {
    for (let rest = absolute * shift; rest > 0; ) {
      const quotient = Math.floor(rest / base);
      digits.push(rest - quotient * base);
      rest = quotient;
    }
  } else {
    for (let rest = BigInt(absolute) * BigInt(shift); rest > 0n; rest /= bigBase)
      digits.push(Number(rest % bigBase));
  }
  put(out, isNegative, digits.length - 1 - (scale + padding) / 4, scale);
}

/** @param weight of the last entry of `digits` */
function put(out: BinaryRows, isNegative: boolean, weight: number, scale: number): void {
  let from = 0;
  while (from < digits.length && digits[from] === 0) from++;
  const count = digits.length - from;
  out.int32(8 + count * 2);
  out.int16(count);
  out.int16(count === 0 ? 0 : weight);
  out.int16(isNegative && count > 0 ? signs.negative : signs.positive);
  out.int16(scale);
  for (let at = digits.length - 1; at >= from; at--) out.int16(digits[at] as number);
}

/** Longest text that is written; PostgreSQL's numeric has 16,383 decimals and more digits before. */
const maxTextLength = 10_000;
const maxPower = 5_000;

/** Bytes that a text of so many characters takes at most. */
export const maxNumberBytes = (length: number) => 4 + 8 + length + maxPower + 8;

/**
 * The text of a JSON number, NaN, Infinity or -Infinity.
 * @returns false, and writes nothing, when numeric cannot hold it
 */
export function putNumber(out: BinaryRows, text: string, hasInfinity: boolean): boolean {
  if (text === "NaN") return putSpecial(out, signs.nan);
  if (text.endsWith("Infinity"))
    return hasInfinity && putSpecial(out, text[0] === "-" ? signs.minus : signs.infinity);
  if (text.length > maxTextLength) return false;
  const [mantissa = "", power = "0"] = text.toLowerCase().split("e");
  if (Math.abs(Number(power)) > maxPower) return false;
  const isNegative = mantissa.startsWith("-");
  const [whole = "", fraction = ""] = (isNegative ? mantissa.slice(1) : mantissa).split(".");
  let all = whole + fraction;
  let scale = fraction.length - Number(power);
  if (scale < 0) {
    all += "0".repeat(-scale);
    scale = 0;
  }
  all += "0".repeat((4 - (scale & 3)) & 3);
  digits.length = 0;
  for (let end = all.length; end > 0; end -= 4)
    digits.push(Number(all.slice(Math.max(0, end - 4), end)));
  while (digits.length > 0 && digits[digits.length - 1] === 0) digits.pop();
  put(out, isNegative, digits.length - 1 - Math.ceil(scale / 4), scale);
  return true;
}

function putSpecial(out: BinaryRows, sign: number): true {
  out.int32(8);
  out.int16(0);
  out.int16(0);
  out.int16(sign);
  out.int16(0);
  return true;
}
