/**
 * JSON without rounding: integers beyond 2^53 are `bigint`, decimals that a double cannot hold are
 * raw JSON (`JSON.rawJSON`), and both are written back digit by digit.
 */
import { budgets } from "../contract/budgets.ts";
import { ConnectorError } from "../contract/errors.ts";

/** The result of `JSON.rawJSON`: a primitive's exact JSON text. */
export interface RawJson {
  readonly rawJSON: string;
}

// The proposal "JSON.parse source text access" is in Node, not yet in TypeScript's library.
const json = JSON as unknown as {
  rawJSON(text: string): RawJson;
  isRawJSON(value: unknown): value is RawJson;
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
  ): unknown;
};
export const rawJson = json.rawJSON;
export const isRawJson = json.isRawJSON;

/** Deepest nesting of arrays and objects that is written. */
export const maxDepth = budgets.state.depth;
/** Largest row, in bytes of UTF-8: what one message may hold. */
export const maxRowBytes = 16 * 1024 * 1024;
/** Largest checkpoint, in bytes of UTF-8. */
const maxStateBytes = budgets.state.bytes;
/** A longer integer stays raw text: turning it into a bigint takes more than linear time. */
const maxBigintDigits = 1_000;

// A double holds 15 digits of any number with an exponent below 100. Others may need more: those of
// 16 characters and more of digits and a point, and those with an exponent of three digits.
const longRun = 16;
const longExponent = /\d[eE][+-]?\d{3,}(?:[\s,}\]]|$)/;

/**
 * The value of a JSON text. Little slower than `JSON.parse` unless the text has a number that a
 * double cannot hold.
 * @throws SyntaxError, whose message quotes the text: never let it leave.
 */
export function parseExact(text: string): unknown {
  if (!hasInexactRun(text) && !longExponent.test(text)) return JSON.parse(text);
  return json.parse(text, (_, value, { source }) =>
    typeof value === "number" && source !== undefined ? exactNumber(value, source) : value,
  );
}

/**
 * True when a long run of digits may be a number that a double cannot hold; long digits in a string
 * count only when they look like a number. Every run covers a multiple of 16, so only those places
 * are looked at.
 */
function hasInexactRun(text: string): boolean {
  for (let at = longRun - 1; at < text.length; at += longRun) {
    if (!isDigitOrPoint(text.charCodeAt(at))) continue;
    let start = at;
    let end = at + 1;
    while (start > 0 && isDigitOrPoint(text.charCodeAt(start - 1))) start--;
    while (end < text.length && isDigitOrPoint(text.charCodeAt(end))) end++;
    if (end - start >= longRun && isInexact(text, start, end)) return true;
    at = end - 1;
  }
  return false;
}

const isDigitOrPoint = (code: number) => (code >= 48 && code <= 57) || code === 46;

/**
 * Whether the run belongs to a number, which stands only after the start, a bracket, a comma, a
 * colon or a space.
 */
function isInexact(text: string, start: number, end: number): boolean {
  const before = text[start - 1] === "-" ? start - 2 : start - 1;
  if (before >= 0 && !":,[ \n\r\t".includes(text.charAt(before))) return false;
  // With an exponent it is left to the exact way.
  if (text[end] === "e" || text[end] === "E") return true;
  const source = text.slice(start, end);
  return !isPlainDecimal.test(source) || typeof exactNumber(Number(source), source) !== "number";
}

const isPlainDecimal = /^\d+(?:\.\d+)?$/;

function exactNumber(value: number, source: string): unknown {
  if (/^-?\d+$/.test(source)) {
    if (Number.isSafeInteger(value)) return value;
    return source.length > maxBigintDigits ? rawJson(source) : BigInt(source);
  }
  if (String(value) === source) return value;
  return Number.isFinite(value) && normalDecimal(source) === normalDecimal(String(value))
    ? value
    : rawJson(source);
}

/**
 * One text for all spellings of a decimal number: its digits without outer zeros, and the exponent
 * of the last one.
 */
function normalDecimal(number: string): string {
  const { digits, exponent, isNegative } = decimalParts(number);
  return digits === "" ? "0" : `${isNegative ? "-" : ""}${digits}e${exponent}`;
}

/** True when the number, given as JSON text, has no fraction: `1.0` and `1e3` have none. */
export function isIntegerText(number: string): boolean {
  return decimalParts(number).exponent >= 0;
}

/** digits × 10^exponent; no digits = zero. */
export function decimalParts(number: string): {
  digits: string;
  exponent: number;
  isNegative: boolean;
} {
  const [, sign, whole = "", fraction = "", power = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(number) ?? [];
  const all = whole + fraction;
  let start = 0;
  let end = all.length;
  while (start < end && all[start] === "0") start++;
  while (end > start && all[end - 1] === "0") end--;
  const exponent = start === end ? 0 : Number(power) - fraction.length + (all.length - end);
  return { digits: all.slice(start, end), exponent, isNegative: sign === "-" };
}

/**
 * The receiver of what {@link writeJson} notes. Fields are noted from the inside out: a container
 * prefixes what its members noted.
 */
export interface JsonFaults {
  /** How many faults are noted so far. */
  readonly noted: number;
  /** Notes that the value of `field` cannot be written; gives what is written in its place. */
  nulled(field: string | number): string;
  /** Puts `field` before the faults noted since there were `from`. */
  nested(from: number, field: string | number): void;
  tooDeep(): never;
  tooLarge(): never;
}

// Of surrogates only lone ones are escaped; the others are found too and do no harm.
const escaped = /[\u0000-\u001f"\\\ud800-\udfff]/;
const isEscaped = new Uint8Array(0x10000).fill(1, 0, 0x20).fill(1, 0xd800, 0xe000);
isEscaped[0x22] = isEscaped[0x5c] = 1;

/**
 * True when the string holds what JSON escapes. A table is faster than a regular expression for
 * short strings.
 */
export function needsEscape(text: string): boolean {
  if (text.length > 40) return escaped.test(text);
  for (let at = 0; at < text.length; at++) if (isEscaped[text.charCodeAt(at)] === 1) return true;
  return false;
}

/** The string as JSON text; lone surrogates are escaped. */
export function quote(text: string): string {
  return needsEscape(text) ? JSON.stringify(text) : `"${text}"`;
}

/** The number as JSON text, -0 with its sign; NaN and infinities have none. */
export function numberText(value: number): string | undefined {
  if (!Number.isFinite(value)) return undefined;
  return Object.is(value, -0) ? "-0" : String(value);
}

/** An RFC 3339 text; undefined for an invalid date or a year of more than four digits. */
export function dateText(date: Date): string | undefined {
  const time = Date.prototype.getTime.call(date);
  if (Number.isNaN(time)) return undefined;
  const text = Date.prototype.toISOString.call(date);
  return text.length === 24 ? text : undefined;
}

/**
 * True for object literals and what JSON.parse gives. Other objects (Map, Buffer, class instances)
 * do not say what their JSON is.
 */
export function isPlainObject(value: unknown): value is { readonly [key: string]: unknown } {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || (prototype === null && !isRawJson(value));
}

/**
 * The value as JSON has it: a date is its text, raw JSON that is no number is its value; undefined
 * when it is nothing.
 */
export function toJsonValue(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (isRawJson(value)) return /^[-\d]/.test(value.rawJSON) ? value : JSON.parse(value.rawJSON);
  return value instanceof Date ? dateText(value) : value;
}

/**
 * Values beyond this many members are written step by step, so that sizes are seen to before memory
 * is gone.
 */
const maxNativeMembers = 10_000;

/**
 * How many of `budget` members are left after a value that `JSON.stringify` writes as {@link
 * writeJson} does, only faster; negative for any other value.
 */
function countNative(value: unknown, budget: number, depth: number): number {
  switch (typeof value) {
    case "string":
    case "boolean":
      return budget - 1;
    case "number":
      return value - value === 0 && !Object.is(value, -0) ? budget - 1 : -1;
    case "object":
      break;
    default:
      return -1;
  }
  if (value === null) return budget - 1;
  let left = depth < maxDepth ? budget - 1 : -1;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length && left >= 0; index++)
      left = countNative(value[index], left, depth + 1);
    return left;
  }
  if (!isPlainObject(value)) return -1;
  for (const key in value) {
    if (left < 0) return left;
    const member = value[key];
    if (member !== undefined) left = countNative(member, left, depth + 1);
  }
  return left;
}

/**
 * The JSON text of any value, or undefined when it has none. Members that have none are reported
 * and written as null; properties whose value is undefined are left out. Code of the value
 * (`toJSON`) is never called.
 */
export function writeJson(value: unknown, faults: JsonFaults, depth: number): string | undefined {
  const isContainer = typeof value === "object" && value !== null;
  if (isContainer && countNative(value, maxNativeMembers, depth) >= 0) return JSON.stringify(value);
  return writeStepwise(value, faults, depth);
}

function writeStepwise(value: unknown, faults: JsonFaults, depth: number): string | undefined {
  switch (typeof value) {
    case "string":
      return quote(value);
    case "number":
      return numberText(value);
    case "boolean":
      return value ? "true" : "false";
    case "bigint":
      return String(value);
    case "object":
      if (value === null) return "null";
      if (Array.isArray(value)) return writeArray(value, faults, depth);
      if (isPlainObject(value)) return writeObject(value, faults, depth);
      if (isRawJson(value)) return value.rawJSON;
      return value instanceof Date ? quoteDate(value) : undefined;
    default:
      return undefined;
  }
}

function quoteDate(value: Date): string | undefined {
  const text = dateText(value);
  return text === undefined ? undefined : `"${text}"`;
}

function writeArray(items: readonly unknown[], faults: JsonFaults, depth: number): string {
  if (depth >= maxDepth) faults.tooDeep();
  let text = "";
  for (let index = 0; index < items.length; index++) {
    text += (index > 0 ? "," : "") + writeMember(items[index], index, faults, depth);
    if (text.length > maxRowBytes) faults.tooLarge();
  }
  return `[${text}]`;
}

function writeObject(
  value: { readonly [key: string]: unknown },
  faults: JsonFaults,
  depth: number,
): string {
  if (depth >= maxDepth) faults.tooDeep();
  let text = "";
  for (const key of Object.keys(value)) {
    const member = value[key];
    if (member === undefined) continue;
    text += `${text === "" ? "" : ","}${quote(key)}:${writeMember(member, key, faults, depth)}`;
    if (text.length > maxRowBytes) faults.tooLarge();
  }
  return `{${text}}`;
}

function writeMember(
  value: unknown,
  field: string | number,
  faults: JsonFaults,
  depth: number,
): string {
  const from = faults.noted;
  const text = writeStepwise(value, faults, depth + 1);
  if (faults.noted !== from) faults.nested(from, field);
  return text ?? faults.nulled(field);
}

/**
 * Equality of JSON values: numbers by value, whatever holds them; objects without regard to order.
 */
export function isJsonEqual(a: unknown, b: unknown): boolean {
  if (Array.isArray(a)) {
    return (
      Array.isArray(b) &&
      a.length === b.length &&
      a.every((item, index) => isJsonEqual(item, b[index]))
    );
  }
  if (isPlainObject(a) && isPlainObject(b)) {
    const keys = Object.keys(a);
    return (
      keys.length === Object.keys(b).length &&
      keys.every((key) => Object.hasOwn(b, key) && isJsonEqual(a[key], b[key]))
    );
  }
  if (isNumeric(a) && isNumeric(b)) return a >= b && a <= b;
  return a === b;
}

const isNumeric = (value: unknown): value is number | bigint =>
  typeof value === "bigint" || typeof value === "number";

/**
 * The JSON text of a checkpoint's state: what `JSON.stringify` gives, with `bigint` and raw JSON
 * written exactly.
 * @throws STATE_TOO_LARGE when it is over 1 MiB, or holds what JSON cannot: undefined (except as a
 * property, which is left out), functions, NaN, cycles, instances of classes.
 */
export function stringifyExact(state: unknown, stream: string): string {
  const refuse = (): never => {
    throw new ConnectorError("STATE_TOO_LARGE", { stream, limit: maxStateBytes });
  };
  const text = writeJson(
    state,
    { noted: 0, nulled: refuse, nested: refuse, tooDeep: refuse, tooLarge: refuse },
    0,
  );
  if (text === undefined || Buffer.byteLength(text) > maxStateBytes) return refuse();
  return text;
}
