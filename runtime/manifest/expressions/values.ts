/**
 * Values of expressions, and how Python, in which manifests were first run, writes and reads them.
 */

import { isoOf } from "./dates.ts";
import { EvaluationError } from "./evaluation-error.ts";
import { Moment, Span } from "./moment.ts";

/** A list that cannot be changed: Python tells it from others, and writes it in round brackets. */
export class Tuple extends Array<PlainValue> {
  /** Python makes lists of one. */
  static override get [Symbol.species]() {
    return Array;
  }
  #names: readonly string[] = [];
  /** Names that its parts have besides. */
  get names(): readonly string[] {
    return this.#names;
  }
  static made(parts: Iterable<PlainValue>, names: readonly string[] = []): Tuple {
    const made = new Tuple();
    for (const part of parts) made.push(part);
    made.#names = names;
    return made;
  }
}
export const tupleOf = (parts: Iterable<PlainValue>, ...names: string[]): Tuple =>
  Tuple.made(parts, names);

/** A value of `namespace`: names to which a statement may give values, also within a loop. */
export class Namespace {
  readonly values = new Map<string, PlainValue>();
}

export type PlainValue =
  | undefined
  | null
  | boolean
  | number
  | bigint
  | string
  | Moment
  | Span
  | Namespace
  | readonly PlainValue[]
  | { readonly [name: string]: PlainValue };

/** As Python's `bool`: nothing, zero and what is empty are false. */
export function truth(value: PlainValue): boolean {
  if (typeof value !== "object" || value === null) return Boolean(value);
  if (value instanceof Moment || value instanceof Namespace) return true;
  if (value instanceof Span) return value.micros !== 0n || value.months !== 0;
  const raw = rawText(value);
  if (raw !== undefined) return Number(raw) !== 0;
  return (Array.isArray(value) ? value : Object.keys(value)).length > 0;
}

/** A value within a text, as Python's `str`. */
export function toText(value: PlainValue): string {
  if (typeof value === "string") return value;
  if (value === undefined) return "";
  return quoted(value);
}

/** As Python's `repr`: a text is quoted. */
export function quoted(value: PlainValue): string {
  if (value === null || value === undefined) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "string") {
    const quote = value.includes("'") && !value.includes('"') ? '"' : "'";
    const escaped = value.replace(/[\\\n\r\t]/g, (one) => JSON.stringify(one).slice(1, -1));
    return quote + (quote === "'" ? escaped.replaceAll("'", "\\'") : escaped) + quote;
  }
  if (typeof value === "number") return numberText(value);
  if (typeof value !== "object") return String(value);
  if (value instanceof Moment) return isoOf(value, " ");
  if (value instanceof Span) return spanText(value);
  const raw = rawText(value);
  if (raw !== undefined) return raw;
  if (value instanceof Namespace) throw new EvaluationError("writes a namespace as text");
  if (value instanceof Tuple) {
    const parts = [...value].map(quoted);
    if (value.names.length > 0 && value.names[0] === "year")
      return `datetime.IsoCalendarDate(${parts.map((one, at) => `${value.names[at]}=${one}`).join(", ")})`;
    return `(${parts.join(", ")}${parts.length === 1 ? "," : ""})`;
  }
  if (Array.isArray(value)) return `[${value.map(quoted).join(", ")}]`;
  const entries = Object.entries(value).map(([name, part]) => `${quoted(name)}: ${quoted(part)}`);
  return `{${entries.join(", ")}}`;
}

/** As Python's `repr`: few digits without an exponent, which has two digits at least. */
function numberText(value: number): string {
  const size = Math.abs(value);
  const isShort = value === 0 || (size >= 1e-4 && (size < 1e16 || Number.isSafeInteger(value)));
  const text = isShort ? String(value) : value.toExponential();
  return text.replace(/e([+-])(\d)$/, "e$10$2");
}

/** As Python's timedelta: "1 day, 0:00:00". */
function spanText({ micros, months }: Span): string {
  if (months !== 0) throw new EvaluationError("writes a duration of months as text");
  const days = micros / 86_400_000_000n - (micros % 86_400_000_000n < 0n ? 1n : 0n);
  const rest = micros - days * 86_400_000_000n;
  const [seconds, fraction] = [rest / 1_000_000n, rest % 1_000_000n];
  const pad = (value: bigint, length = 2) => String(value).padStart(length, "0");
  const time = `${seconds / 3600n}:${pad((seconds / 60n) % 60n)}:${pad(seconds % 60n)}`;
  const word = days === 1n || days === -1n ? "day" : "days";
  return `${days === 0n ? "" : `${days} ${word}, `}${time}${fraction === 0n ? "" : `.${pad(fraction, 6)}`}`;
}

/** Decimals of many digits, and numbers that Python writes with a point, come as raw JSON. */
export const rawText = (value: object): string | undefined =>
  (JSON as unknown as { isRawJSON(one: unknown): boolean }).isRawJSON(value)
    ? (value as { rawJSON: string }).rawJSON
    : undefined;

export const isMapping = (value: PlainValue): value is { readonly [name: string]: PlainValue } =>
  typeof value === "object" &&
  value !== null &&
  !Array.isArray(value) &&
  !(value instanceof Moment) &&
  !(value instanceof Span) &&
  !(value instanceof Namespace) &&
  rawText(value) === undefined;
/** The part on a path of names: own ones of objects, and positions in lists. */
export function valueAt(value: PlainValue, names: readonly string[]): PlainValue {
  let found = value;
  for (const name of names) found = memberOf(found, name);
  return found;
}

function memberOf(of: PlainValue, name: string): PlainValue {
  if (Array.isArray(of)) return /^\d+$/.test(name) ? of[Number(name)] : undefined;
  return isMapping(of) && Object.hasOwn(of, name) ? of[name] : undefined;
}

export const isNumber = (value: PlainValue): boolean =>
  ["number", "bigint", "boolean"].includes(typeof value) ||
  (typeof value === "object" && value !== null && rawText(value) !== undefined);
