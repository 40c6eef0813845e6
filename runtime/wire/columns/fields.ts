/** The columns of a stream, from its schema: what both sides of the wire agree on by themselves. */
import type { BatchField, ColumnKind } from "../../contract/batch.ts";
import type { JsonSchema } from "../../contract/json.ts";
import type { StreamRequest } from "../verb-request.ts";

/**
 * The properties that are read, in the order of the schema: the selected ones, the primary key and
 * the cursor.
 */
export function batchFields(request: StreamRequest): BatchField[] {
  const { stream, syncMode, cursorField, selectedFields } = request;
  const keys = new Set(stream.source_defined_primary_key.map(([name]) => name));
  if (cursorField !== undefined && syncMode === "incremental") keys.add(cursorField);
  const selected = selectedFields && new Set(selectedFields);
  const properties = Object.entries(
    (stream.json_schema.properties ?? {}) as Record<string, JsonSchema>,
  );
  return properties
    .filter(([name]) => selected === undefined || selected.has(name) || keys.has(name))
    .map(([name, schema]) => ({ name, ...kindOf(schema), isKey: keys.has(name) }));
}

/** What a property holds. What is not of one kind is JSON. */
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
