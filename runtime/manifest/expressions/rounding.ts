/** Numbers read from texts and rounded, as Python does both. */
import { EvaluationError } from "./evaluation-error.ts";
import { float, whole } from "./literals.ts";
import { number, numeric } from "./operands.ts";
import { isFloat } from "./value-tests.ts";
import { isNumber, type PlainValue } from "./values.ts";

const maxDigits = 4_300;

/** @param base from 2 to 36; 0: as the text says @returns undefined for what is no whole number */
export function readWhole(text: string, base: number): PlainValue {
  const [, sign, given = ""] = /^\s*([+-]?)(\w+)\s*$/.exec(text) ?? [];
  const [, begin = ""] = /^(0[xob])_?/i.exec(given) ?? [];
  const declared = { "0x": 16, "0o": 8, "0b": 2 }[begin.toLowerCase()];
  const isDeclared = declared !== undefined && (base === declared || base === 0);
  const radix = isDeclared ? declared : base === 0 ? 10 : base;
  const digits = isDeclared ? given.slice(begin.length).replace(/^_/, "") : given;
  if (!Number.isInteger(radix) || radix < 2 || radix > 36 || digits.length > maxDigits)
    return undefined;
  if (!/^[^\W_]+(?:_[^\W_]+)*$/.test(digits)) return undefined;
  let made = 0n;
  for (const one of digits.replaceAll("_", "").toLowerCase()) {
    const value = "0123456789abcdefghijklmnopqrstuvwxyz".indexOf(one);
    if (value === -1 || value >= radix) return undefined;
    made = made * BigInt(radix) + BigInt(value);
  }
  return whole(sign === "-" ? -made : made);
}

/** @returns undefined for what is no number */
export function readFloat(text: string): number | undefined {
  const plain = text.trim();
  const isNumber = /^[+-]?(?:\d+(?:_\d+)*\.?(?:\d+(?:_\d+)*)?|\.\d+(?:_\d+)*)(?:e[+-]?\d+)?$/i;
  if (isNumber.test(plain)) return Number(plain.replaceAll("_", ""));
  if (/^[+-]?(?:inf|infinity|nan)$/i.test(plain)) return Number.POSITIVE_INFINITY;
  return undefined;
}

/** @param method "common": to the nearest, and to the even one of two */
export function rounded(value: PlainValue, digits: number, method: string): PlainValue {
  if (!Number.isInteger(digits) || Math.abs(digits) > 100)
    throw new EvaluationError("rounds to what is no number of digits");
  if (!isNumber(value)) throw new EvaluationError("rounds what is no number");
  const size = number(value);
  if (method === "ceil" || method === "floor") {
    const made = Math[method](size * 10 ** digits) / 10 ** digits;
    if (!Number.isFinite(made)) throw new EvaluationError("makes a number that is too large");
    return float(made);
  }
  if (method !== "common") throw new EvaluationError("rounds by a method that is none");
  if (!isFloat(value))
    return digits >= 0
      ? typeof value === "boolean"
        ? size
        : value
      : wholeRounded(numeric(value), digits);
  if (digits >= 0) return float(Math.abs(size) >= 1e21 ? size : nearest(size, digits));
  return float(Number(wholeRounded(Math.trunc(size), digits)));
}

/** Exact: the digits of a number are those that it has, and not those that are written. */
function nearest(size: number, digits: number): number {
  const made = Number(size.toFixed(digits));
  const exact = size.toFixed(Math.min(100, digits + 60));
  const rest = exact.slice(exact.indexOf(".") + 1 + digits);
  if (!/^50*$/.test(rest)) return made;
  const down = exact.slice(0, exact.length - rest.length).replace(/\.$/, "");
  const isEven = Number(down.at(-1)) % 2 === 0;
  return isEven ? Number(down) : made;
}

function wholeRounded(size: number | bigint, digits: number): PlainValue {
  const [value, unit] = [BigInt(size), 10n ** BigInt(-digits)];
  const rest = ((value % unit) + unit) % unit;
  const down = value - rest;
  const isUp = rest * 2n > unit || (rest * 2n === unit && (down / unit) % 2n !== 0n);
  return whole(isUp ? down + unit : down);
}
