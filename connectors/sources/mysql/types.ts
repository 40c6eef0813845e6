/** MySQL's types: their JSON Schema, how they are asked for, and what their values become. */
import {
  type ColumnKind,
  ConnectorError,
  type JsonSchema,
  parseExact,
  rawJson,
} from "svc-connectors";
import { quoteText } from "./api.ts";
import { malformed } from "./packets.ts";

/** A value of the server as its column has it; undefined when its column cannot hold it. */
export type Encode = (field: Buffer) => Buffer | string | undefined;

export interface ValueType {
  readonly kind: ColumnKind;
  /** Schema without null. */
  readonly schema: JsonSchema;
  /** False when the server's order is not that of comparing with a saved value. */
  readonly isOrderable: boolean;
  /** How a row filter may compare its values. */
  readonly comparison: "all" | "equality" | "none";
  /** The expression that is selected. */
  select(column: string): string;
  readonly encode: Encode;
  /** The text of a value that a state keeps. */
  toText(field: Buffer): string;
  /** A value's text in SQL, from a state or a person; undefined when it is none of this type. */
  toLiteral(text: string): string | undefined;
}

/** A column as the server describes it, in a table or in a result. */
export interface ColumnType {
  /** `bigint`, `varchar`, … */
  readonly name: string;
  readonly isUnsigned: boolean;
  /** Precision of `decimal`. */
  readonly precision: number;
  readonly scale: number;
  /** MariaDB keeps JSON as a text that is checked. */
  readonly isJson: boolean;
}

const utf8 = (field: Buffer) => field.toString("utf8");
const latin1 = (field: Buffer) => field.toString("latin1");
const asIs = (field: Buffer) => field;

const text: ValueType = {
  kind: "text",
  schema: { type: "string" },
  isOrderable: true,
  comparison: "all",
  select: (column) => column,
  encode: asIs,
  toText: utf8,
  toLiteral: quoteText,
};

const unordered = (type: ValueType): ValueType => ({ ...type, isOrderable: false });

const integerText = /^-?\d{1,70}$/;
const decimalText = /^-?\d{1,70}(\.\d{1,40})?$/;
const doubleText = /^-?\d{1,400}(\.\d{1,400})?(e[+-]?\d{1,3})?$/i;

const integer: ValueType = {
  ...text,
  kind: "integer",
  schema: { type: "integer" },
  encode: exactNumber,
  toText: latin1,
  toLiteral: (value) => (integerText.test(value) ? value : undefined),
};

const [zero, nine, minus, point] = [0x30, 0x39, 0x2d, 0x2e];

/** The number with all its digits, but for zeros that pad it on the left. */
function exactNumber(field: Buffer): Buffer {
  let start = 0;
  while (field[start] === zero && isDigit(field[start + 1])) start++;
  const digits = start === 0 ? field : field.subarray(start);
  for (let at = digits[0] === minus ? 1 : 0; at < digits.length; at++)
    if (!isDigit(digits[at]) && digits[at] !== point) throw malformed();
  return digits;
}

const isDigit = (byte: number | undefined) => byte !== undefined && byte >= zero && byte <= nine;

/** The widths that a value has room in: those of 64 bits without a sign need one bit more. */
function integerOf({ name, isUnsigned }: ColumnType): ValueType {
  if (name === "bigint" && isUnsigned)
    return { ...integer, schema: { type: "integer", airbyte_type: "big_integer" } };
  const isLong = name === "bigint" || (name === "int" && isUnsigned);
  return { ...integer, schema: { type: "integer", format: isLong ? "int64" : "int32" } };
}

function decimalOf({ precision, scale }: ColumnType): ValueType {
  if (scale > 0)
    return {
      ...integer,
      kind: "number",
      schema: { type: "number", airbyte_type: "big_number" },
      toLiteral: (value) => (decimalText.test(value) ? value : undefined),
    };
  return precision > 0 && precision <= 18
    ? { ...integer, schema: { type: "integer", format: "int64" } }
    : { ...integer, schema: { type: "integer", airbyte_type: "big_integer" } };
}

/**
 * 0000, and 1901 to 2155. As a text: a number of one or two digits would be one of another century.
 */
const year: ValueType = {
  ...integer,
  schema: { type: "integer", format: "int32" },
  toLiteral: (value) => (/^\d{1,4}$/.test(value) ? quoteText(value.padStart(4, "0")) : undefined),
};

/** A double has all its digits in text. */
const double: ValueType = {
  ...integer,
  kind: "number",
  isOrderable: false,
  schema: { type: "number", format: "double" },
  encode: (field) => numberText(Number(latin1(field))),
  toLiteral: (value) => (doubleText.test(value) ? Number(value).toExponential() : undefined),
};
/** A float has six, but as a double; and no literal is a float. */
const float: ValueType = {
  ...double,
  schema: { type: "number", format: "float" },
  select: (column) => `(${column} + 0e0)`,
  encode: (field) => numberText(shortestFloat(Number(latin1(field)))),
  toLiteral: (value) =>
    doubleText.test(value) ? `CAST(${Number(value).toExponential()} AS FLOAT)` : undefined,
};

function numberText(value: number): string {
  if (Number.isNaN(value)) throw malformed();
  return String(value);
}

/** The double that is written with the fewest digits that mean this float and no other. */
function shortestFloat(value: number): number {
  for (let digits = 1; digits <= 9; digits++) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return short;
  }
  return value;
}

const bytes: ValueType = {
  ...text,
  kind: "binary",
  schema: { type: "string", contentEncoding: "base64" },
  toText: (field) => field.toString("hex"),
  toLiteral(value) {
    const digits = value.replace(/^0x/i, "");
    return /^([0-9a-f]{2})*$/i.test(digits) ? `x'${digits}'` : undefined;
  },
};

/** Up to 64 bits, the highest first. */
const bitsText = (field: Buffer) => BigInt(`0x${field.toString("hex") || "0"}`).toString();
const bits: ValueType = {
  ...integer,
  schema: { type: "integer", airbyte_type: "big_integer" },
  encode: bitsText,
  toText: bitsText,
  toLiteral: (value) => (/^\d{1,20}$/.test(value) ? value : undefined),
};

const dateText = /^\d{4}-\d\d-\d\d$/;
const instantText =
  /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?))?(Z|[+-]\d\d:\d\d)?$/;

/** A date that no calendar has, such as 0000-00-00, becomes null, and is noted. */
const date: ValueType = {
  ...text,
  kind: "date",
  schema: { type: "string", format: "date" },
  encode: (field) => (isDay(latin1(field)) ? field : undefined),
  toText: latin1,
  toLiteral: (value) => (dateText.test(value) ? quoteText(value) : undefined),
};

/** Whether the calendar has the day that the text begins with. */
function isDay(value: string): boolean {
  const day = value.slice(0, 10);
  if (!dateText.test(day)) throw malformed();
  const atMs = Date.parse(`${day}T00:00:00Z`);
  return !Number.isNaN(atMs) && new Date(atMs).toISOString().startsWith(day);
}

/** `datetime` has no zone, and `timestamp` is asked for in UTC. */
const instant = (zone: "" | "Z"): ValueType => ({
  ...date,
  kind: zone === "" ? "timestamp" : "timestamptz",
  schema: {
    type: "string",
    format: "date-time",
    airbyte_type: `timestamp_with${zone === "" ? "out" : ""}_timezone`,
  },
  encode(field) {
    const value = latin1(field);
    return isDay(value) ? `${value.replace(" ", "T")}${zone}` : undefined;
  },
  toLiteral(value) {
    const [, day, time = "00:00:00", offset = ""] = instantText.exec(value) ?? [];
    if (day === undefined || (zone === "" && offset !== "")) return undefined;
    if (offset === "" || offset === "Z") return quoteText(`${day} ${time}`);
    const utc = shiftedToUtc(day, time, offset);
    return utc === undefined ? undefined : quoteText(utc);
  },
});

function shiftedToUtc(day: string, time: string, offset: string): string | undefined {
  const [whole = "", fraction] = time.split(".");
  const atMs = Date.parse(`${day}T${whole}${offset}`);
  if (Number.isNaN(atMs)) return undefined;
  const utc = new Date(atMs).toISOString().slice(0, 19).replace("T", " ");
  return fraction === undefined ? utc : `${utc}.${fraction}`;
}

/** From -838:59:59 to 838:59:59: it may be a span of days. */
const time: ValueType = {
  ...text,
  toText: latin1,
  toLiteral: (value) =>
    /^-?\d{1,3}:\d\d(:\d\d(\.\d{1,6})?)?$/.test(value) ? quoteText(value) : undefined,
};

/** A text that the server never checked, and is no JSON, becomes null, and is noted. */
const json: ValueType = {
  ...text,
  kind: "json",
  schema: {},
  isOrderable: false,
  comparison: "none",
  encode(field) {
    if (depthOf(field) > maxDepth)
      throw new ConnectorError("RECORD_INVALID", {
        problem: `it is nested deeper than ${maxDepth} levels`,
      });
    try {
      return JSON.stringify(parseExact(utf8(field)), withAllDigits);
    } catch {
      return undefined;
    }
  },
};

/** Large integers are `bigint`, which JSON does not know. */
const withAllDigits = (_: string, value: unknown) =>
  typeof value === "bigint" ? rawJson(String(value)) : value;

/** Arrays and objects inside of each other, as the writer of rows has it. */
const maxDepth = 200;
const [quote, backslash] = [0x22, 0x5c];

function depthOf(json: Buffer): number {
  let most = 0;
  let depth = 0;
  let isText = false;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at] as number;
    if (isText && byte === backslash) at++;
    else if (byte === quote) isText = !isText;
    // "[" and "{" differ by one bit, and so do "]" and "}".
    else if (!isText && (byte & 0xdf) === 0x5b) most = Math.max(most, ++depth);
    else if (!isText && (byte & 0xdf) === 0x5d) depth--;
  }
  return most;
}

/** Ordered by their places in the list, and compared as texts. */
const listed: ValueType = { ...text, isOrderable: false, comparison: "equality" };

/** As text: where a point is, not how the server keeps it. */
const geometric: ValueType = {
  ...text,
  isOrderable: false,
  comparison: "none",
  select: (column) => `ST_AsText(${column})`,
};

const uuid: ValueType = {
  ...text,
  kind: "uuid",
  schema: { type: "string", format: "uuid" },
  toLiteral: (value) => (/^[0-9a-f-]{32,36}$/i.test(value) ? quoteText(value) : undefined),
};

const opaque: ValueType = { ...unordered(bytes), comparison: "none" };

/** Types by name; the values of any other are text as the server writes it. */
const byName: Readonly<Record<string, ValueType>> = {
  year,
  double,
  float,
  bit: bits,
  date,
  datetime: instant(""),
  timestamp: instant("Z"),
  time,
  binary: bytes,
  varbinary: bytes,
  tinyblob: bytes,
  blob: bytes,
  mediumblob: bytes,
  longblob: bytes,
  vector: opaque,
  json,
  uuid,
  enum: listed,
  set: listed,
};

const integers = new Set(["tinyint", "smallint", "mediumint", "int", "bigint"]);
const geometries =
  /^(geometry|geometrycollection|geomcollection|(multi)?(point|linestring|polygon))$/;

export function typeOf(column: ColumnType): ValueType {
  const { name } = column;
  if (column.isJson) return json;
  if (integers.has(name)) return integerOf(column);
  if (name === "decimal") return decimalOf(column);
  if (geometries.test(name)) return geometric;
  return Object.hasOwn(byName, name) ? (byName[name] as ValueType) : text;
}

/**
 * How a column fills a property, whose kind was told when the table was discovered; undefined when
 * it cannot.
 */
export function encoderFor(kind: ColumnKind, type: ValueType): Encode | undefined {
  if (type.kind === kind || (kind === "number" && type.kind === "integer")) return type.encode;
  if (type.kind === "binary") return undefined;
  if (kind === "text") return asIs;
  if (kind !== "json") return undefined;
  const isNumber = type.kind === "integer" || type.kind === "number";
  return isNumber ? type.encode : (field) => JSON.stringify(utf8(field));
}
