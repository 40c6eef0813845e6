/** PostgreSQL's types as JSON Schema, and their text output as JSON values. Nothing is rounded. */
import { type JsonSchema, parseExact, rawJson } from "svc-connectors";
import { parseArray } from "./arrays.ts";

/**
 * A column's type with domains taken off. OIDs of built-in types never change.
 * @see pg_type.dat of PostgreSQL
 */
export interface ColumnType {
  /** Of the type itself, or of an array's elements. */
  readonly oid: number;
  /** Set for an array: what parts its elements. */
  readonly delimiter: string | null;
  /** atttypmod: of numeric its precision and scale; -1 = none. */
  readonly modifier: number;
}

export interface Conversion {
  readonly schema: JsonSchema;
  /** From the text that the server sends; undefined = the text itself. */
  readonly parse?: ((text: string) => unknown) | undefined;
  /** False when the type has no order. */
  readonly isOrderable: boolean;
  /** True when values without end exist: infinity, and NaN, which PostgreSQL orders behind it. */
  readonly hasInfinity: boolean;
}

interface Scalar {
  readonly type: JsonSchema;
  readonly parse?: ((text: string) => unknown) | undefined;
}

const text: Scalar = { type: { type: "string" } };
const integer: Scalar = { type: { type: "integer" }, parse: Number };
const float: Scalar = { type: { type: "number" }, parse: parseFloat8 };
/** Any JSON value. */
const json: Scalar = { type: {}, parse: parseExact };

const scalars: ReadonlyMap<number, Scalar> = new Map([
  [16, { type: { type: "boolean" }, parse: (value: string) => value === "t" }],
  [17, { type: { type: "string", contentEncoding: "base64" }, parse: parseBytea }],
  [20, { type: { type: "integer" }, parse: parseInteger }],
  [21, integer],
  [23, integer],
  [26, integer], // oid
  [114, json],
  [700, float],
  [701, float],
  [1082, { type: { type: "string", format: "date" } }],
  [1083, { type: { type: "string", airbyte_type: "time_without_timezone" } }],
  [
    1114,
    {
      type: { type: "string", format: "date-time", airbyte_type: "timestamp_without_timezone" },
      parse: parseTimestamp,
    },
  ],
  [
    1184,
    {
      type: { type: "string", format: "date-time", airbyte_type: "timestamp_with_timezone" },
      parse: parseTimestamptz,
    },
  ],
  [1266, { type: { type: "string", airbyte_type: "time_with_timezone" } }],
  [2950, { type: { type: "string", format: "uuid" } }],
  [3802, json],
]);

/** json, xml, xid, cid and the geometric types. */
const unordered = new Set([28, 29, 114, 142, 600, 601, 602, 603, 604, 628, 718]);
/** float4, float8, date, timestamp, timestamptz, numeric. */
const infinite = new Set([700, 701, 1082, 1114, 1184, 1700]);
const numericOid = 1700;

/**
 * @param isNullable keys are the only columns that never hold null, also when a value cannot be
 * written.
 */
export function toConversion(
  { oid, delimiter, modifier }: ColumnType,
  isNullable: boolean,
): Conversion {
  const scalar = oid === numericOid ? numeric(modifier) : (scalars.get(oid) ?? text);
  if (delimiter !== null) {
    return {
      // An array column takes arrays of any dimension: what the items are cannot be promised.
      schema: nullable({ type: "array", items: {} }, isNullable),
      parse: (value) => parseArray(value, delimiter, scalar.parse),
      isOrderable: !unordered.has(oid),
      hasInfinity: false,
    };
  }
  return {
    schema: nullable(scalar.type, isNullable),
    parse: scalar.parse,
    isOrderable: !unordered.has(oid),
    hasInfinity: infinite.has(oid),
  };
}

function nullable(schema: JsonSchema, isNullable: boolean): JsonSchema {
  return isNullable && schema.type !== undefined
    ? { ...schema, type: [schema.type, "null"] }
    : schema;
}

/**
 * numeric(p, 0) holds integers. The modifier is ((precision << 16) | (scale & 0x7ff)) + 4; the
 * scale is signed.
 */
function numeric(modifier: number): Scalar {
  if (modifier < 4)
    return { type: { type: "number", airbyte_type: "big_number" }, parse: parseNumeric };
  const precision = (modifier - 4) >> 16;
  const scale = (((modifier - 4) & 0x7ff) ^ 1024) - 1024;
  if (scale > 0)
    return {
      type: { type: "number", airbyte_type: "big_number", precision, scale },
      parse: parseNumeric,
    };
  const digits = precision - scale;
  if (digits <= 18) return { type: { type: "integer" }, parse: parseNumeric };
  return digits <= 38
    ? { type: { type: "integer", airbyte_type: "big_integer" }, parse: parseNumeric }
    : { type: { type: "number", airbyte_type: "big_number" }, parse: parseNumeric };
}

/** A double holds 15 digits of any number. */
const exactLength = 15;

function parseInteger(value: string): number | bigint {
  return value.length <= exactLength ? Number(value) : BigInt(value);
}

/**
 * NaN and Infinity, which JSON numbers lack, stay text: the output filter writes null in their
 * place and says so.
 */
function parseNumeric(value: string): unknown {
  const last = value.charCodeAt(value.length - 1);
  if (last < 48 || last > 57) return value;
  return value.length <= exactLength && !value.includes(".") ? Number(value) : rawJson(value);
}

function parseFloat8(value: string): number | string {
  const number = Number(value);
  return Number.isFinite(number) ? number : value;
}

/** `\x` and hex digits. */
function parseBytea(value: string): string {
  return Buffer.from(value.slice(2), "hex").toString("base64");
}

// infinity, years before Christ and beyond 9999 have no RFC 3339 form. They stay as they are, which
// is no date-time: the output filter writes null in their place and says so.
function parseTimestamp(value: string): string {
  return value.charCodeAt(10) === 32 && !value.endsWith("BC")
    ? `${value.slice(0, 10)}T${value.slice(11)}`
    : value;
}

/** The session's time zone is UTC: the offset is always +00. */
function parseTimestamptz(value: string): string {
  return value.charCodeAt(10) === 32 && value.endsWith("+00")
    ? `${value.slice(0, 10)}T${value.slice(11, -3)}Z`
    : value;
}
