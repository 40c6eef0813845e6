import type { ConfiguredStream, StreamDescriptor } from "../contract/catalog.ts";
import type { ColumnTypeChange } from "../contract/destination.ts";
import type { JsonSchema } from "../contract/json.ts";
import { mergeKeys } from "./merge.ts";
import { type NameRules, toSqlName } from "./names.ts";

/**
 * The type of a column, in words of no database. `number` is a double; `decimal` is exact: with
 * `precision` and `scale` where the schema tells them. `timestamptz` is an instant, `timestamp` has
 * no time zone. Widening goes from left to right, and ends at text: int16 → int32 → integer (64
 * bits) → big_integer → text · everything else → text.
 */
export type ColumnType =
  | { readonly kind: (typeof columnKinds)[number] }
  | { readonly kind: "decimal"; readonly precision?: number; readonly scale?: number };
const columnKinds = [
  "boolean",
  "int16",
  "int32",
  "integer",
  "big_integer",
  "number",
  "timestamp",
  "timestamptz",
  "date",
  "time",
  "uuid",
  "binary",
  "text",
  "json",
] as const;

/** A property of a stream and the column that holds it. */
export interface StreamColumn {
  readonly property: string;
  readonly name: string;
  readonly type: ColumnType;
  /**
   * The databases' own names of the values' type, by the name of the database, where the source
   * says so: `{"native_type": {"postgresql": "inet"}}` in the property's schema. The text or JSON
   * of a value is what that database reads back.
   */
  readonly nativeTypes?: { readonly [database: string]: string } | undefined;
}

/**
 * Columns that a destination adds: one value for each row, when it was written, by which job, and
 * what was changed in it.
 */
export const ownColumns = {
  id: "_svc_id",
  extractedAt: "_svc_extracted_at",
  jobId: "_svc_job_id",
  meta: "_svc_meta",
} as const;

/**
 * The names of columns that were given before, by property. Kept with the state, so that they never
 * change sides.
 */
export type ColumnNames = { readonly [property: string]: string };

/**
 * The columns of a stream in the order of its schema: the selected ones, the primary key, the
 * cursor, and what says that a row is gone.
 */
export function streamColumns(
  configured: ConfiguredStream,
  saved: ColumnNames = {},
  rules: NameRules = {},
): StreamColumn[] {
  const { stream, selected_fields: selected } = configured;
  const { keys, cursor, deletedAt } = mergeKeys(configured);
  const own = [...keys, cursor, deletedAt].filter((property) => property !== undefined);
  const wanted = selected && new Set([...selected, ...own]);
  const properties = Object.entries(
    (stream.json_schema.properties ?? {}) as Record<string, JsonSchema>,
  );
  const given = new Map(Object.entries(saved));
  const taken = new Set([...given.values()].map((name) => name.toLowerCase()));
  return properties
    .filter(([property]) => !wanted || wanted.has(property))
    .map(([property, schema]) => {
      const name = given.get(property) ?? toSqlName(property, taken, rules);
      taken.add(name.toLowerCase());
      return { property, name, type: columnType(schema), nativeTypes: nativeTypes(schema) };
    });
}

/** The names to keep: those of before, and those of these columns. */
export function columnNames(
  columns: readonly Pick<StreamColumn, "property" | "name">[],
  saved: ColumnNames = {},
): ColumnNames {
  return Object.fromEntries([
    ...Object.entries(saved),
    ...columns.map(({ property, name }) => [property, name]),
  ]);
}

/** The types of a table's columns, by name, in the destination's own words. */
export type TypesByName = ReadonlyMap<string, string>;

/** The columns that have another type than before. */
export const changedTypes = (
  stream: StreamDescriptor,
  before: TypesByName,
  after: TypesByName,
): readonly ColumnTypeChange[] =>
  [...after].flatMap(([column, to]) => {
    const from = before.get(column);
    return from === undefined || from === to ? [] : [{ stream, column, from, to }];
  });

/**
 * The type of a property. Where the schema leaves it open it is text or JSON, which lose nothing. A
 * number is a double, which rounds beyond 15 digits, unless the schema says that it is exact
 * (`airbyte_type: big_number`).
 */
export function columnType(schema: JsonSchema): ColumnType {
  const types = variantsOf(schema).map(typeOfVariant);
  const [first] = types;
  const kinds = new Set(types.map(({ kind }) => kind));
  if (first !== undefined && new Set(types.map((type) => JSON.stringify(type))).size === 1)
    return first;
  if (kinds.has("json")) return { kind: "json" };
  const isOneOf = (...allowed: ColumnType["kind"][]) =>
    kinds.size > 0 && [...kinds].every((kind) => allowed.includes(kind));
  if (isOneOf("int16", "int32", "integer")) return { kind: "integer" };
  if (isOneOf("int16", "int32", "integer", "big_integer")) return { kind: "big_integer" };
  if (isOneOf("int16", "int32", "integer", "number")) return { kind: "number" };
  if (isOneOf("int16", "int32", "integer", "big_integer", "decimal")) return { kind: "decimal" };
  return kinds.size === 0 ? { kind: "json" } : { kind: "text" };
}

function nativeTypes({ native_type: named }: JsonSchema): StreamColumn["nativeTypes"] {
  if (typeof named !== "object" || named === null) return undefined;
  const names = Object.entries(named).filter(([, name]) => typeof name === "string");
  return Object.fromEntries(names);
}

/** The alternatives of a schema without null, each with one type. */
function variantsOf(schema: JsonSchema): JsonSchema[] {
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(alternatives))
    return alternatives.flatMap((alternative: JsonSchema) => variantsOf(alternative));
  const types = Array.isArray(schema.type) ? schema.type : [schema.type];
  return types.filter((type) => type !== "null").map((type: unknown) => ({ ...schema, type }));
}

const bigintMax = 2n ** 63n - 1n;

function typeOfVariant(schema: JsonSchema): ColumnType {
  const { type, format, airbyte_type: airbyteType, contentEncoding } = schema;
  if (type === "boolean") return { kind: "boolean" };
  if (type === "integer") {
    const isWide =
      airbyteType === "big_integer" || isBeyond(schema.maximum) || isBeyond(schema.minimum);
    if (isWide) return { kind: "big_integer" };
    return { kind: format === "int16" || format === "int32" ? format : "integer" };
  }
  if (airbyteType === "big_integer") return { kind: "big_integer" };
  if (airbyteType === "big_number") return decimalType(schema);
  if (type === "number") return { kind: "number" };
  if (type === "string" && format === "date-time")
    return { kind: airbyteType === "timestamp_without_timezone" ? "timestamp" : "timestamptz" };
  if (type === "string" && (format === "date" || format === "uuid")) return { kind: format };
  if (type === "string" && airbyteType === "time_without_timezone") return { kind: "time" };
  if (type === "string" && contentEncoding === "base64") return { kind: "binary" };
  return { kind: type === "string" ? "text" : "json" };
}

const isBeyond = (bound: unknown) =>
  typeof bound === "number" &&
  Number.isInteger(bound) &&
  (BigInt(bound) > bigintMax || BigInt(bound) < -bigintMax - 1n);

function decimalType({ precision, scale }: JsonSchema): ColumnType {
  const isKnown = Number.isInteger(precision) && Number.isInteger(scale);
  const isSensible =
    isKnown && Number(precision) > 0 && Number(scale) >= 0 && Number(scale) <= Number(precision);
  return isSensible
    ? { kind: "decimal", precision: Number(precision), scale: Number(scale) }
    : { kind: "decimal" };
}
