import { isJsonObject, type JsonSchema } from "../contract/json.ts";
import { valueAt } from "../wire/json-pointer.ts";

/**
 * The schema with all of its properties at the top, where those who make columns of them look: also
 * the ones that stand in `allOf` or behind `$ref`.
 */
export function withTopProperties(schema: JsonSchema): JsonSchema {
  if (schema.allOf === undefined && schema.$ref === undefined) return schema;
  const found = new Map<string, JsonSchema[]>();
  collect(schema, schema, found, new Set());
  if (found.size === 0) return schema;
  const properties = Object.fromEntries(
    [...found].map(([name, parts]) => [name, parts.length === 1 ? parts[0] : { allOf: parts }]),
  );
  return { ...schema, properties } as JsonSchema;
}

function collect(
  schema: unknown,
  root: JsonSchema,
  found: Map<string, JsonSchema[]>,
  seen: Set<JsonSchema>,
): void {
  if (!isSchema(schema) || seen.has(schema)) return;
  seen.add(schema);
  if (isSchema(schema.properties))
    for (const [name, member] of Object.entries(schema.properties))
      found.set(name, [...(found.get(name) ?? []), member as JsonSchema]);
  if (typeof schema.$ref === "string" && /^#(\/|$)/.test(schema.$ref))
    collect(valueAt(root, schema.$ref.slice(1)), root, found, seen);
  if (Array.isArray(schema.allOf))
    for (const part of schema.allOf) collect(part, root, found, seen);
}

const isSchema = (value: unknown): value is JsonSchema => isJsonObject(value as never);
