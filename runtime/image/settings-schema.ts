/**
 * The schema of an image's settings. The programs that it is written for take JSON Schema as its
 * drafts do: a keyword that is not known is an annotation. It is brought to the strict form that
 * every connector's settings are held to, by leaving out what says nothing.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../contract/json.ts";
import { dataKeywords, namedSchemas } from "../spec/schema-budget.ts";
import { unreachableSecret } from "../spec/secret-fields.ts";
import { knowsFormat, knowsKeyword } from "../spec/validation.ts";

/**
 * Without its draft, and without what does not constrain. A secret that stands where none is looked
 * for stays, so that the spec is refused for it.
 */
export function settingsSchema({ $schema, ...schema }: JsonObject): JsonObject {
  // A draft that is named in another way than as text makes no schema.
  const isNamed = $schema === undefined || typeof $schema === "string";
  return { ...(isNamed ? {} : { $schema }), ...constraints(schema) };
}

function constraints(schema: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([keyword, value]) => constrains(keyword, value))
      .map(([keyword, value]) => [keyword, below(keyword, value)]),
  );
}

/** The schemas under a keyword, and what is data as it is. */
function below(keyword: string, value: JsonValue): JsonValue {
  if (dataKeywords.has(keyword) || keyword === "dependentRequired") return value;
  if (Array.isArray(value)) return value.map(part);
  return namedSchemas.has(keyword) && isJsonObject(value)
    ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, part(one)]))
    : part(value);
}

const part = (value: JsonValue): JsonValue => (isJsonObject(value) ? constraints(value) : value);

function constrains(keyword: string, value: JsonValue): boolean {
  if (!knowsKeyword(keyword)) return unreachableSecret({ [keyword]: value }) !== undefined;
  // One example, as OpenAPI has it.
  if (keyword === "examples") return Array.isArray(value);
  // Of a property itself, as in the third draft: later ones have the list of its object.
  if (keyword === "required") return typeof value !== "boolean";
  // Written for another language: the image tries those itself.
  if (keyword === "pattern") return typeof value !== "string" || isPattern(value);
  if (keyword === "format") return typeof value !== "string" || knowsFormat(value);
  return true;
}

function isPattern(text: string): boolean {
  try {
    return new RegExp(text, "u") instanceof RegExp;
  } catch {
    return false;
  }
}
