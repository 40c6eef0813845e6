/** The types of columns, and which of them holds the values of which. Nothing is rounded. */

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

export const uuidForm = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
export const base64Form = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Whole numbers, each holds those before it. */
export const integerTypes: readonly ColumnType[] = ["smallint", "integer", "bigint", "numeric"];

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

const unstorable = /\\u(?:0000|d[89a-f][0-9a-f]{2})/i;

/** PostgreSQL keeps no NUL, and no half of a surrogate pair; in JSON both are escapes. */
export function cleanJson(json: string): string {
  if (!unstorable.test(json)) return json;
  // Two backslashes are a character, and what follows them is no escape.
  return json.replace(/\\(?:u(?:0000|d[89a-f][0-9a-f]{2})|[\s\S])/gi, (found) =>
    found.length > 2 ? "\ufffd" : found,
  );
}
