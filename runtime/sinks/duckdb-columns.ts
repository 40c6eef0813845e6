import type { ConfiguredStream } from "../contract/catalog.ts";
import type { JsonSchema } from "../contract/json.ts";
import { quoteName, quoteText, toSqlName } from "./output-names.ts";

/** A property of a stream and the column that holds it. */
export interface Column {
  readonly property: string;
  readonly name: string;
  /** An SQL type. Widened when a value does not fit it. */
  type: string;
  /** A number that a double would round. */
  readonly isExact: boolean;
}

/** Columns that the sink adds: when the row was written, and what was changed in it (values that did not fit their schema). */
export const extractedAtColumn = "_svc_extracted_at";
export const metaColumn = "_svc_meta";

/** The columns of a stream in the order of its schema; only the selected ones. */
export function columnsOf({ stream, selected_fields }: ConfiguredStream): Column[] {
  const properties = Object.entries((stream.json_schema.properties ?? {}) as Record<string, JsonSchema>);
  const taken = new Set<string>();
  return properties
    .filter(([property]) => !selected_fields || selected_fields.includes(property))
    .map(([property, schema]) => {
      const name = toSqlName(property, taken);
      taken.add(name.toLowerCase());
      const isExact = variantsOf(schema).some((variant) => variant.airbyte_type === "big_number");
      return { property, name, type: columnType(schema), isExact };
    });
}

/**
 * The SQL type for a property. What cannot be told for sure is text, which loses nothing.
 * A `date-time` becomes an instant: microseconds are kept, the offset that it was written with is not. A number is a DOUBLE,
 * which rounds beyond 15 digits, unless the schema says that it is exact (`airbyte_type: big_number`, with `precision` and
 * `scale` where they are known): then it is a DECIMAL, or text where no DECIMAL is wide enough.
 */
export function columnType(schema: JsonSchema): string {
  const variants = variantsOf(schema);
  const types = new Set(variants.map(typeOfVariant));
  const [only] = types;
  if (types.size === 1 && only !== undefined) return only;
  if (types.size === 2 && types.has("BIGINT") && types.has("DOUBLE")) return "DOUBLE";
  return types.has("JSON") ? "JSON" : "VARCHAR";
}

/** The alternatives of a schema without null, each with one type. */
function variantsOf(schema: JsonSchema): JsonSchema[] {
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(alternatives)) return alternatives.flatMap((alternative: JsonSchema) => variantsOf(alternative));
  const types = Array.isArray(schema.type) ? schema.type : [schema.type];
  return types.filter((type) => type !== "null").map((type: unknown) => ({ ...schema, type }));
}

const bigintMax = 2n ** 63n - 1n;

function typeOfVariant(schema: JsonSchema): string {
  const { type, format, airbyte_type: airbyteType } = schema;
  if (type === "boolean") return "BOOLEAN";
  if (type === "integer") {
    const isWide = airbyteType === "big_integer" || isBeyond(schema.maximum) || isBeyond(schema.minimum);
    return isWide ? "HUGEINT" : "BIGINT";
  }
  if (airbyteType === "big_integer") return "HUGEINT";
  if (airbyteType === "big_number") return decimalType(schema);
  if (type === "number") return "DOUBLE";
  if (type === "string" && format === "date-time")
    return airbyteType === "timestamp_without_timezone" ? "TIMESTAMP" : "TIMESTAMPTZ";
  if (type === "string" && format === "date") return "DATE";
  return type === "string" || type === undefined ? (type ? "VARCHAR" : "JSON") : "JSON";
}

const isBeyond = (bound: unknown) =>
  typeof bound === "number" &&
  Number.isInteger(bound) &&
  (BigInt(bound) > bigintMax || BigInt(bound) < -bigintMax - 1n);

/** DuckDB's widest DECIMAL has 38 digits. */
function decimalType({ precision, scale }: JsonSchema): string {
  const isKnown = Number.isInteger(precision) && Number.isInteger(scale);
  const fits = isKnown && Number(precision) <= 38 && Number(scale) >= 0 && Number(scale) <= Number(precision);
  return fits ? `DECIMAL(${precision}, ${scale})` : "VARCHAR";
}

/** The table's columns as CREATE TABLE wants them. */
export function columnDefinitions(columns: readonly Column[]): string {
  const own = columns.map(({ name, type }) => `${quoteName(name)} ${type}`);
  return [...own, `${extractedAtColumn} TIMESTAMPTZ`, `${metaColumn} JSON`].join(", ");
}

/** The target columns of an INSERT, in the order of {@link selectRows}. */
export function columnNames(columns: readonly Column[]): string {
  return [...columns.map(({ name }) => quoteName(name)), extractedAtColumn, metaColumn].join(", ");
}

/** The rows of a file of JSON lines, typed. `maxLineBytes` bounds DuckDB's buffers. */
export function selectRows(
  path: string,
  columns: readonly Column[],
  extractedAt: string,
  maxLineBytes: number,
): string {
  const stamp = `${quoteText(extractedAt)}::TIMESTAMPTZ`;
  const options = `format = 'newline_delimited', maximum_object_size = ${maxLineBytes}`;
  const properties = new Set(columns.map(({ property }) => property.toLowerCase()));
  if (properties.size === columns.length && !properties.has("")) {
    const typed = [...columns, { property: metaColumn, type: "JSON" }];
    const struct = typed.map(({ property, type }) => `${quoteText(property)}: ${quoteText(type)}`).join(", ");
    const list = columns.map(({ property, name }) => `${quoteName(property)} AS ${quoteName(name)}`);
    const names = [...list, `${stamp} AS ${extractedAtColumn}`, metaColumn].join(", ");
    return `SELECT ${names} FROM read_json(${quoteText(path)}, columns = {${struct}}, ${options})`;
  }
  // read_json ignores case in names, so properties that differ in case only are picked out of the line one by one.
  const picked = columns.map(({ property, name, type }) => `${pick(property, type)} AS ${quoteName(name)}`);
  const names = [...picked, `${stamp} AS ${extractedAtColumn}`, `${pick(metaColumn, "JSON")} AS ${metaColumn}`].join(
    ", ",
  );
  return `SELECT ${names} FROM read_ndjson_objects(${quoteText(path)}, maximum_object_size = ${maxLineBytes})`;
}

function pick(property: string, type: string): string {
  const pointer = quoteText(`/${property.replaceAll("~", "~0").replaceAll("/", "~1")}`);
  if (type === "JSON") return `CASE json_type(json, ${pointer}) WHEN 'NULL' THEN NULL ELSE json -> ${pointer} END`;
  return `CAST(json ->> ${pointer} AS ${type})`;
}
