/**
 * The schema of the settings, as a manifest's author wrote it for programs that take a draft of
 * JSON Schema lightly: what says nothing here is left out, so that the rest can be held to.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../contract/json.ts";

/** Keywords of schemas within schemas. */
const ofOne = new Set(["items", "not", "if", "then", "else", "additionalProperties"]);
const ofMany = new Set(["oneOf", "anyOf", "allOf"]);
const plain = new Set([
  ...["type", "enum", "const", "default", "title", "description", "examples", "required"],
  ...["minLength", "maxLength", "minimum", "maximum", "multipleOf", "minItems", "maxItems"],
  ...["exclusiveMinimum", "exclusiveMaximum", "uniqueItems", "minProperties", "maxProperties"],
  ...["airbyte_secret", "order", "multiline", "always_show", "group", "pattern_descriptor"],
]);
const lists = new Set(["enum", "required", "examples"]);
const numbers = /^(?:min|max|exclusive|multiple)/;

/**
 * The schema without what cannot be held to. A format is one of these: authors write "date-time"
 * for days too, since nobody has looked.
 */
export function plainSchema(schema: JsonObject): JsonObject {
  const made: JsonObject = {};
  for (const [name, value] of Object.entries(schema)) {
    const kept = keyword(name, value);
    if (kept !== undefined) made[name] = kept;
  }
  return made;
}

function keyword(name: string, value: JsonValue): JsonValue | undefined {
  if (name === "properties" && isJsonObject(value))
    return Object.fromEntries(
      Object.entries(value).map(([key, one]) => [key, isJsonObject(one) ? plainSchema(one) : {}]),
    );
  if (ofOne.has(name)) {
    if (isJsonObject(value)) return plainSchema(value);
    return typeof value === "boolean" ? value : undefined;
  }
  if (ofMany.has(name) && Array.isArray(value)) {
    const parts = value.filter(isJsonObject).map(plainSchema);
    return parts.length === 0 ? undefined : parts;
  }
  if (name === "pattern") return isPattern(value) ? value : undefined;
  if (!plain.has(name)) return undefined;
  if (lists.has(name)) return Array.isArray(value) && value.length > 0 ? value : undefined;
  if (numbers.test(name)) return typeof value === "number" ? value : undefined;
  return value;
}

/** Patterns are written for another language: what this one cannot read says nothing. */
function isPattern(value: JsonValue): boolean {
  try {
    return typeof value === "string" && new RegExp(value, "u") instanceof RegExp;
  } catch {
    return false;
  }
}
