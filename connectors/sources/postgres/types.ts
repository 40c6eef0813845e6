/** PostgreSQL's types: their JSON Schema, how they are asked for, and what their values become. */
import type { ColumnKind, JsonSchema } from "svc-connectors";
import { arrayToJson } from "./arrays.ts";
import * as fixed from "./columns/fixed.ts";
import { shortestFloat } from "./columns/floats.ts";
import { dateText, instantText, timeText } from "./columns/instants.ts";
import { writeJson } from "./columns/json.ts";
import {
  isEndlessNumeric,
  longDecimals,
  numbers,
  shortDecimals,
  writeNumeric,
} from "./columns/numerics.ts";
import { copiedValues, TextBytes, writtenValues } from "./columns/texts.ts";
import { type Values, widening } from "./columns/values.ts";
import { nativeType } from "./native-types.ts";

/**
 * A column's type with domains taken off. OIDs of built-in types never change.
 * @see pg_type.dat of PostgreSQL
 */
export interface TypeKey {
  /** OID of the type itself, or of an array's elements. */
  readonly oid: number;
  /** Set for an array: what parts its elements. */
  readonly delimiter: string | null;
  /** atttypmod: of numeric its precision and scale; -1 = none. */
  readonly modifier: number;
  readonly isEnum: boolean;
}

export interface ValueType {
  readonly kind: ColumnKind;
  readonly schema: JsonSchema;
  /** Schema with null: keys are the only columns that never hold it. */
  readonly nullableSchema: JsonSchema;
  /** False when the type has no order. */
  readonly isOrderable: boolean;
  /** The expression that is selected; its binary form is what the functions below read. */
  select(column: string): string;
  createValues(capacity: number, isKey: boolean): Values;
  /** The text that the server reads back as the same value. */
  toText(field: Buffer): string;
  /**
   * Whether the value that begins there is infinity, or NaN, which PostgreSQL orders behind it;
   * undefined when no value of the type is.
   */
  readonly isEndless?: ((view: DataView, at: number) => boolean) | undefined;
}

/** json, xml, xid, cid and the geometric types. */
const unordered = new Set([28, 29, 114, 142, 600, 601, 602, 603, 604, 628, 718]);

const cast = (type: string) => (column: string) => `${column}::pg_catalog.${type}`;
/** The output of the type itself: some, such as inet, are cast to another text. */
const asOwnText = (column: string) =>
  `CASE WHEN ${column} IS NOT DISTINCT FROM NULL THEN NULL ELSE pg_catalog.format('%s', ${column}) END`;

const utf8 = (field: Buffer) => field.toString("utf8");
const copiedText = (capacity: number) => copiedValues(capacity, "utf8");

type Scalar = Omit<ValueType, "isOrderable" | "nullableSchema">;

/** Any other type: PostgreSQL's own text. */
export const ownText: Scalar = {
  kind: "text",
  schema: { type: "string" },
  select: asOwnText,
  createValues: copiedText,
  toText: utf8,
};
const text: Scalar = { ...ownText, select: cast("text") };

/** Any JSON value. */
const json: Scalar = {
  kind: "json",
  schema: {},
  select: cast("json"),
  createValues: (capacity) =>
    writtenValues({
      capacity,
      encoding: "json",
      write: (out, { bytes }, start, end) => writeJson(out, bytes, start, end),
    }),
  toText: utf8,
};

/** The form of any type where a property of any kind is wanted. */
export const asJson: Scalar = {
  ...json,
  select: (column) => `pg_catalog.to_json(${column})`,
};

const integer = (bits: 16 | 32): Scalar => ({
  kind: "integer",
  schema: { type: "integer", format: `int${bits}` },
  select: cast(`int${bits / 8}`),
  createValues: (capacity) => fixed.integers(capacity, bits === 16 ? 2 : 4),
  toText: (field) => String(field.readIntBE(0, bits / 8)),
});

const isEndlessFloat = (float: number) => Number.isNaN(float) || float === Number.POSITIVE_INFINITY;

const isLongest = (view: DataView, at: number) =>
  view.getInt32(at) === 2 ** 31 - 1 && view.getInt32(at + 4) === -1;

const instant = (name: "timestamp" | "timestamptz"): Scalar => {
  const zone = name === "timestamptz" ? "+00" : "";
  return {
    kind: name,
    schema: {
      type: "string",
      format: "date-time",
      airbyte_type: `timestamp_with${zone === "" ? "out" : ""}_timezone`,
    },
    select: cast(name),
    createValues: (capacity) =>
      widening(
        fixed.instants(capacity),
        writtenValues({
          capacity,
          encoding: "utf8",
          write: (out, { bytes }, start) =>
            out.text(toRfcText(instantText(bytes.readBigInt64BE(start), zone))),
        }),
      ),
    toText: (field) => instantText(field.readBigInt64BE(0), zone),
    isEndless: isLongest,
  };
};

const scalars: ReadonlyMap<number, Scalar> = new Map<number, Scalar>([
  [
    16,
    {
      kind: "boolean",
      schema: { type: "boolean" },
      select: cast("bool"),
      createValues: fixed.booleans,
      toText: (field) => (field[0] === 1 ? "t" : "f"),
    },
  ],
  [
    17,
    {
      kind: "binary",
      schema: { type: "string", contentEncoding: "base64" },
      select: cast("bytea"),
      createValues: (capacity) => copiedValues(capacity, "binary"),
      toText: (field) => `\\x${field.toString("hex")}`,
    },
  ],
  [19, text],
  [
    20,
    {
      kind: "integer",
      schema: { type: "integer", format: "int64" },
      select: cast("int8"),
      createValues: (capacity) => fixed.longs(capacity, "int64"),
      toText: (field) => String(field.readBigInt64BE(0)),
    },
  ],
  [21, integer(16)],
  [23, integer(32)],
  [25, text],
  [
    26,
    {
      kind: "integer",
      schema: { type: "integer" },
      select: cast("oid"),
      createValues: fixed.oids,
      toText: (field) => String(field.readUInt32BE(0)),
    },
  ],
  [114, json],
  [
    700,
    {
      kind: "number",
      schema: { type: "number", format: "float" },
      select: cast("float4"),
      createValues: fixed.floats,
      toText: (field) => String(shortestFloat(field.readFloatBE(0))),
      isEndless: (view, at) => isEndlessFloat(view.getFloat32(at)),
    },
  ],
  [
    701,
    {
      kind: "number",
      schema: { type: "number", format: "double" },
      select: cast("float8"),
      createValues: (capacity) => fixed.longs(capacity, "float64"),
      toText: (field) => String(field.readDoubleBE(0)),
      isEndless: (view, at) => isEndlessFloat(view.getFloat64(at)),
    },
  ],
  // The form without a length in it: with one, it would be cut.
  [1042, { ...text, select: cast("bpchar") }],
  [1043, text],
  [
    1082,
    {
      kind: "date",
      schema: { type: "string", format: "date" },
      select: cast("date"),
      createValues: fixed.dates,
      toText: (field) => dateText(field.readInt32BE(0)),
      isEndless: (view, at) => view.getInt32(at) === 2 ** 31 - 1,
    },
  ],
  [
    1083,
    {
      kind: "time",
      schema: { type: "string", airbyte_type: "time_without_timezone" },
      select: cast("time"),
      createValues: (capacity) => fixed.longs(capacity, "time64"),
      toText: (field) => timeText(field.readBigInt64BE(0)),
    },
  ],
  [1114, instant("timestamp")],
  [1184, instant("timestamptz")],
  [1266, { ...ownText, schema: { type: "string", airbyte_type: "time_with_timezone" } }],
  [
    2950,
    {
      kind: "uuid",
      schema: { type: "string", format: "uuid" },
      select: cast("uuid"),
      createValues: fixed.uuids,
      toText: (field) => field.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-"),
    },
  ],
  // A version stands before the text.
  [
    3802,
    {
      ...json,
      select: cast("jsonb"),
      createValues: (capacity) =>
        writtenValues({
          capacity,
          encoding: "json",
          write: (out, { bytes }, start, end) => writeJson(out, bytes, start + 1, end),
        }),
      toText: (field) => utf8(field.subarray(1)),
    },
  ],
]);

const numericOid = 1700;

/** Made once for each type, however many columns have it. */
const made = new Map<string, ValueType>();

export function toValueType(key: TypeKey): ValueType {
  const { oid, delimiter, modifier, isEnum } = key;
  const name = `${oid} ${delimiter} ${oid === numericOid ? modifier : ""} ${isEnum}`;
  const known = made.get(name);
  if (known) return known;
  const scalar =
    oid === numericOid ? numeric(modifier) : (scalars.get(oid) ?? (isEnum ? text : ownText));
  const own = delimiter === null ? scalar : array(delimiter, elementToJson(oid));
  const native = nativeType(oid, delimiter !== null);
  const schema = native === undefined ? own.schema : { ...own.schema, native_type: native };
  const type: ValueType = {
    ...own,
    schema,
    nullableSchema: nullable(schema),
    isOrderable: !unordered.has(oid),
  };
  made.set(name, type);
  return type;
}

const nullable = (schema: JsonSchema): JsonSchema =>
  schema.type === undefined ? schema : { ...schema, type: [schema.type, "null"] };

/** Items of arrays cannot be promised: a column takes arrays of any dimension. */
const array = (delimiter: string, toJson: (element: string) => string): Scalar => ({
  kind: "json",
  schema: { type: "array", items: {} },
  select: asOwnText,
  createValues: (capacity) =>
    writtenValues({
      capacity,
      encoding: "json",
      write: (out, { bytes }, start, end) =>
        out.text(arrayToJson(bytes.toString("utf8", start, end), delimiter, toJson)),
    }),
  toText: utf8,
});

/**
 * numeric(p, 0) holds integers. The modifier is ((precision << 16) | (scale & 0x7ff)) + 4; the
 * scale is signed.
 */
function numeric(modifier: number): Scalar {
  const base: Omit<Scalar, "createValues" | "schema"> = {
    kind: "number",
    select: cast("numeric"),
    toText: numericText,
    isEndless: isEndlessNumeric,
  };
  const open: Scalar = {
    ...base,
    schema: { type: "number", airbyte_type: "big_number" },
    createValues: numbers,
  };
  if (modifier < 4) return open;
  const precision = (modifier - 4) >> 16;
  const scale = (((modifier - 4) & 0x7ff) ^ 1024) - 1024;
  const isInteger = scale <= 0;
  const digits = isInteger ? precision - scale : precision;
  if (digits > 38 && isInteger) return open;
  const createValues = (capacity: number, isKey: boolean) => {
    const options = { scale: Math.max(0, scale), isInteger, losesNaN: isInteger && !isKey };
    if (Math.max(digits, scale) <= 18) return shortDecimals(capacity, options);
    return Math.max(digits, scale) <= 38 ? longDecimals(capacity, options) : numbers(capacity);
  };
  if (!isInteger)
    return {
      ...base,
      schema: { type: "number", airbyte_type: "big_number", precision, scale },
      createValues,
    };
  const schema = digits <= 18 ? {} : { airbyte_type: "big_integer" };
  return { ...base, kind: "integer", schema: { type: "integer", ...schema }, createValues };
}

function numericText(field: Buffer): string {
  const out = new TextBytes();
  writeNumeric(out, new DataView(field.buffer, field.byteOffset, field.length), 0);
  return out.bytes.toString("latin1", 0, out.length);
}

/** infinity and years before Christ have no such text, and stay as they are. */
const toRfcText = (instant: string) =>
  /^\d.*\d$/.test(instant) ? instant.replace(" ", "T").replace(/\+00$/, "Z") : instant;

const asIs = (element: string) => element;
const quoted = (element: string) => JSON.stringify(element);
/** NaN and Infinity have no number in JSON. */
const ifNumber = (element: string) => (/\d$/.test(element) ? element : quoted(element));

/** How the text of an array's element becomes JSON. */
function elementToJson(oid: number): (element: string) => string {
  switch (oid) {
    case 16:
      return (element) => (element === "t" ? "true" : "false");
    case 17:
      return (element) => quoted(Buffer.from(element.slice(2), "hex").toString("base64"));
    case 20:
    case 21:
    case 23:
    case 26:
      return asIs;
    case 700:
    case 701:
      return ifNumber;
    case numericOid:
      return ifNumber;
    case 1114:
    case 1184:
      return (element) => quoted(toRfcText(element));
    case 114:
    case 3802:
      return (element) => {
        const out = new TextBytes();
        const bytes = Buffer.from(element);
        writeJson(out, bytes, 0, bytes.length);
        return out.bytes.toString("utf8", 0, out.length);
      };
    default:
      return quoted;
  }
}
