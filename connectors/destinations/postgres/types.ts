/**
 * The types of columns, which of them holds which value, and how a value is written for COPY.
 * Nothing is rounded.
 */
import { rawJson } from "svc-connectors";
import { toDate, toTimestamp, toTimestamptz } from "./timestamps.ts";

/** SQL types of data columns, as format_type() names them. */
export const columnTypes = [
  "boolean",
  "smallint",
  "integer",
  "bigint",
  "numeric",
  "double precision",
  "timestamp with time zone",
  "timestamp without time zone",
  "date",
  "time without time zone",
  "uuid",
  "bytea",
  "text",
  "jsonb",
] as const;
export type ColumnType = (typeof columnTypes)[number];

/**
 * The text of a value as the type reads it, before COPY's escapes; undefined when the type cannot
 * hold the value. Never null.
 */
export type ValueWriter = (value: unknown) => string | undefined;

/** One writer a type. `text` and `jsonb` give text that may need cleaning: see row-encoder.ts. */
export const valueWriters: Readonly<Record<ColumnType, ValueWriter>> = {
  boolean: (value) => (value === true ? "true" : value === false ? "false" : undefined),
  smallint: (value) => integerText(value, 16),
  integer: (value) => integerText(value, 32),
  bigint: (value) => integerText(value, 64),
  numeric: (value) => {
    if (typeof value === "number") return Number.isFinite(value) ? String(value) : undefined;
    if (typeof value === "bigint") return fittingNumber(String(value));
    return isRawNumber(value) ? fittingNumber(value.rawJSON) : undefined;
  },
  "double precision": (value) => {
    if (typeof value === "number") return Number.isFinite(value) ? numberText(value) : undefined;
    // A double beyond 2^53 is written with as many digits as tell it from its neighbours.
    return typeof value === "bigint" && String(Number(value)) === String(value)
      ? String(value)
      : undefined;
  },
  "timestamp with time zone": (value) =>
    typeof value === "string" ? toTimestamptz(value) : undefined,
  "timestamp without time zone": (value) =>
    typeof value === "string" ? toTimestamp(value) : undefined,
  date: (value) => (typeof value === "string" ? toDate(value) : undefined),
  "time without time zone": (value) => textOfForm(value, timeForm),
  uuid: (value) => textOfForm(value, uuidForm),
  /** Hexadecimal, with the backslash that COPY wants. */
  bytea: (value) => {
    const base64 = textOfForm(value, base64Form);
    return base64 === undefined
      ? undefined
      : `\\\\x${Buffer.from(base64, "base64").toString("hex")}`;
  },
  text: (value) => {
    if (typeof value === "string") return value;
    if (typeof value === "number") return numberText(value);
    return jsonText(value);
  },
  jsonb: (value) => {
    if (typeof value !== "object") return jsonText(value);
    return hasEndlessNumber(value) ? undefined : jsonText(value);
  },
};

function integerText(value: unknown, bits: number): string | undefined {
  if (typeof value === "number")
    return Number.isSafeInteger(value) && Math.abs(value) < 2 ** (bits - 1)
      ? String(value)
      : undefined;
  return typeof value === "bigint" && BigInt.asIntN(bits, value) === value
    ? String(value)
    : undefined;
}

const textOfForm = (value: unknown, form: RegExp) =>
  typeof value === "string" && form.test(value) ? value : undefined;
const timeForm = /^(?:(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,6})?)?|24:00:00)$/;
export const uuidForm = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
export const base64Form = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Whole numbers, each holds those before it. */
export const integerTypes: readonly ColumnType[] = ["smallint", "integer", "bigint", "numeric"];

/** The next type that holds all values of `type` and may hold `value` as well. */
export function widerType(type: ColumnType, value: unknown): ColumnType {
  const isNumber = typeof value === "number" || typeof value === "bigint" || isRawNumber(value);
  if (!isNumber) return "text";
  if (type === "double precision") return "numeric";
  return integerTypes[integerTypes.indexOf(type) + 1 || integerTypes.length] ?? "text";
}

/** A type that holds the values of both. */
export function commonType(one: ColumnType, other: ColumnType): ColumnType {
  if (one === other) return one;
  const places = [integerTypes.indexOf(one), integerTypes.indexOf(other)] as const;
  if (!places.includes(-1)) return integerTypes[Math.max(...places)] ?? "numeric";
  const isNumber = (type: ColumnType) => type === "double precision" || integerTypes.includes(type);
  return isNumber(one) && isNumber(other) ? "numeric" : "text";
}

/**
 * An expression that turns the column into the wider type: text as JSON has it, doubles with all
 * their digits.
 */
export function conversion(column: string, from: ColumnType, to: ColumnType): string {
  if (to === "numeric" && from === "double precision") return `${column}::text::numeric`;
  if (to === "text" && from === "bytea") return `pg_catalog.encode(${column}, 'base64')`;
  if (to === "text" && from === "timestamp with time zone")
    return `pg_catalog.to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
  if (to === "text" && from === "timestamp without time zone")
    return `pg_catalog.to_char(${column}, 'YYYY-MM-DD"T"HH24:MI:SS.US')`;
  return `${column}::${to}`;
}

interface RawNumber {
  readonly rawJSON: string;
}

/** Plain objects of a row have a prototype; raw numbers have none, and are frozen. */
function isRawNumber(value: unknown): value is RawNumber {
  return (
    typeof value === "object" &&
    value !== null &&
    Object.getPrototypeOf(value) === null &&
    "rawJSON" in value
  );
}

const numberText = (value: number) => (Object.is(value, -0) ? "-0" : String(value));

/**
 * PostgreSQL's numeric has at most 131,072 digits before and 16,383 after the point. This is well
 * within.
 */
function fittingNumber(text: string): string | undefined {
  if (text.length > 10_000) return undefined;
  const power = /[eE]([+-]?\d+)$/.exec(text)?.[1];
  return power === undefined || Math.abs(Number(power)) <= 5_000 ? text : undefined;
}

/** True when a number in it is too long for jsonb, which keeps numbers as numeric. */
export function hasEndlessNumber(value: unknown): boolean {
  if (typeof value === "bigint") return fittingNumber(String(value)) === undefined;
  if (typeof value !== "object" || value === null) return false;
  if (isRawNumber(value)) return fittingNumber(value.rawJSON) === undefined;
  for (const key in value)
    if (hasEndlessNumber((value as { readonly [key: string]: unknown })[key])) return true;
  return false;
}

function jsonText(value: unknown): string {
  return JSON.stringify(value, hasBigint(value) ? exactly : undefined);
}

const exactly = (_: string, value: unknown) =>
  typeof value === "bigint" ? rawJson(String(value)) : value;

function hasBigint(value: unknown): boolean {
  if (typeof value === "bigint") return true;
  if (typeof value !== "object" || value === null) return false;
  for (const key in value)
    if (hasBigint((value as { readonly [key: string]: unknown })[key])) return true;
  return false;
}

const unstorable = /\\u(?:0000|d[89a-f][0-9a-f]{2})/i;

/** PostgreSQL keeps no NUL, and no half of a surrogate pair; in JSON both are escapes. */
export function cleanJson(json: string): string {
  if (!unstorable.test(json)) return json;
  // Two backslashes are a character, and what follows them is no escape.
  return json.replace(/\\(?:u(?:0000|d[89a-f][0-9a-f]{2})|[\s\S])/gi, (found) =>
    found.length > 2 ? "\ufffd" : found,
  );
}
