/** Which properties may leave as a hash, and what their streams look like then. */
import type { ConfiguredStream } from "../contract/catalog.ts";
import type { JsonSchema } from "../contract/json.ts";
import { kindOf } from "../wire/columns/fields.ts";

/**
 * Why a property cannot be hashed, as words behind its name; undefined when it can. A state is
 * saved in plain: what it holds is hashed nowhere.
 */
export function hashProblem(configured: ConfiguredStream, field: string): string | undefined {
  const { stream, sync_mode, cursor_field: given } = configured;
  const properties = propertiesOf(configured);
  if (!Object.hasOwn(properties, field)) {
    const [whole = ""] = field.split(".");
    return whole !== field && Object.hasOwn(properties, whole)
      ? `is a part of ${whole}: only whole columns can be hashed`
      : "is not one of the stream's columns";
  }
  const own = stream.default_cursor_field;
  const cursor = stream.source_defined_cursor || !given?.length ? own : given;
  if (sync_mode === "incremental" && cursor[0] === field)
    return "is the cursor, of which the saved state has the plain value: choose another cursor, or full refresh";
  const isKey = stream.source_defined_primary_key.some(([name]) => name === field);
  if (isKey && sync_mode === "full_refresh" && stream.is_resumable)
    return "is part of the primary key, along which a full refresh goes, so that the saved state has the plain value: read incrementally by another column";
  if (isKey && sync_mode === "incremental" && stream.source_defined_cursor)
    return "is part of the primary key, which the source may have in the saved state in plain";
  return undefined;
}

/** The stream as its rows are when they leave: hashes are texts. */
export function withHashedFields(configured: ConfiguredStream): ConfiguredStream {
  const hashed = configured.hashed_fields;
  if (!hashed?.length) return configured;
  const properties = Object.entries(propertiesOf(configured)).map(
    ([name, schema]) => [name, hashed.includes(name) ? toHashSchema(schema) : schema] as const,
  );
  const { stream } = configured;
  const json_schema = { ...stream.json_schema, properties: Object.fromEntries(properties) };
  return { ...configured, stream: { ...stream, json_schema } };
}

const toHashSchema = (schema: JsonSchema): JsonSchema => ({
  type: kindOf(schema).isNullable ? ["string", "null"] : "string",
});

const propertiesOf = ({ stream }: ConfiguredStream) =>
  (stream.json_schema.properties ?? {}) as Record<string, JsonSchema>;
