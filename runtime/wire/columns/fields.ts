/** The columns of a stream, from its schema: what both sides of the wire agree on by themselves. */
import type { BatchField, ColumnKind } from "../../contract/batch.ts";
import type { JsonSchema } from "../../contract/json.ts";
import type { SelectedStream } from "../../contract/stream.ts";
import type { StreamRequest } from "../verb-request.ts";

/**
 * The properties that are read, in the order of the schema: the selected ones, the primary key and
 * the cursor.
 */
export function batchFields({ stream, ...selection }: StreamRequest): BatchField[] {
  return streamFields({
    ...selection,
    schema: stream.json_schema,
    primaryKey: stream.source_defined_primary_key.flatMap(([name]) => name ?? []),
  });
}

/**
 * The columns that a batch of the stream has, in their order: for connectors that yield batches.
 */
export function streamFields({
  schema,
  primaryKey = [],
  syncMode,
  cursorField,
  selectedFields,
}: Pick<
  SelectedStream,
  "schema" | "primaryKey" | "syncMode" | "cursorField" | "selectedFields"
>): BatchField[] {
  const keys = new Set(primaryKey);
  const cursor = syncMode === "incremental" ? cursorField : undefined;
  const selected = selectedFields && new Set([...selectedFields, ...keys, cursor]);
  const properties = Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>);
  return properties
    .filter(([name]) => selected === undefined || selected.has(name))
    .map(([name, property]) => {
      const held = kindOf(property);
      return { name, ...held, isKey: keys.has(name) || (name === cursor && !held.isNullable) };
    });
}

/** The kind of a property's values. Those of several kinds are JSON. */
export function kindOf(schema: JsonSchema): Pick<BatchField, "kind" | "isNullable"> {
  const kinds = new Set(alternatives(schema));
  const isNullable = kinds.delete("null") || kinds.size === 0 || kinds.has("any");
  const [first] = kinds;
  if (kinds.size === 1 && first !== undefined && first !== "any" && first !== "null")
    return { kind: first, isNullable };
  const isNumeric = kinds.size > 0 && kinds.isSubsetOf(numeric);
  return { kind: isNumeric ? "number" : "json", isNullable };
}

type Alternative = ColumnKind | "null" | "any";
const numeric: ReadonlySet<Alternative> = new Set(["integer", "number"]);

function alternatives(schema: JsonSchema): Alternative[] {
  const own = alternativesOf(schema);
  return schema.nullable === true && schema.type !== undefined ? [...own, "null"] : own;
}

function alternativesOf(schema: JsonSchema): Alternative[] {
  const listed = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(listed)) return listed.flatMap((one: JsonSchema) => alternatives(one));
  if (schema.type === undefined) return ["any"];
  const types: unknown[] = Array.isArray(schema.type) ? schema.type : [schema.type];
  return types.map((type) => alternativeOf(type, schema));
}

const ofString: Readonly<Record<string, ColumnKind>> = { date: "date", uuid: "uuid" };

function alternativeOf(type: unknown, schema: JsonSchema): Alternative {
  if (type === "null" || type === "boolean" || type === "integer" || type === "number") return type;
  if (type !== "string") return "json";
  const { format, airbyte_type: airbyteType, contentEncoding } = schema;
  if (contentEncoding === "base64") return "binary";
  if (airbyteType === "time_without_timezone") return "time";
  if (format === "date-time")
    return airbyteType === "timestamp_without_timezone" ? "timestamp" : "timestamptz";
  return (
    (typeof format === "string" && Object.hasOwn(ofString, format) && ofString[format]) || "text"
  );
}
