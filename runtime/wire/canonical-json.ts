import { decimalParts, isRawJson } from "./exact-json.ts";

/**
 * How numbers are written. `exact`: by value and to the last digit, significant digits with zeros
 * or a power of ten behind them ("15e-1"), minus zero with its sign; hashes of recordings are made
 * of it. `ecmascript`: as ECMAScript writes a double (RFC 8785); digests that others make as well
 * are.
 */
export type CanonicalNumbers = "exact" | "ecmascript";

/**
 * One text for all spellings of a JSON value: properties in the order of their UTF-16 code units
 * and without those that are undefined, no white space, texts as ECMAScript writes them.
 * @param value as `JSON.parse` or `parseExact` gives it
 * @see RFC 8785, section 3.2
 */
export function canonicalize(value: unknown, numbers: CanonicalNumbers = "exact"): string {
  if (typeof value === "bigint") return canonicalNumber(String(value));
  if (typeof value === "number") return numberText(value, numbers);
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  if (isRawJson(value)) return canonicalNumber(value.rawJSON);
  if (Array.isArray(value)) return `[${value.map((one) => canonicalize(one, numbers)).join(",")}]`;
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonicalize(member, numbers)}`);
  return `{${members.join(",")}}`;
}

const numberText = (value: number, numbers: CanonicalNumbers) =>
  numbers === "ecmascript"
    ? JSON.stringify(value)
    : canonicalNumber(Object.is(value, -0) ? "-0" : String(value));

function canonicalNumber(text: string): string {
  if (/^-?\d{1,15}$/.test(text)) return text;
  const { digits, exponent, isNegative } = decimalParts(text);
  const sign = isNegative ? "-" : "";
  if (digits === "") return `${sign}0`;
  return `${sign}${digits}${exponent >= 0 && exponent <= 20 ? "0".repeat(exponent) : `e${exponent}`}`;
}
