/**
 * The schema of an image's settings. The programs that it is written for take JSON Schema as its
 * drafts do: a keyword that is not known is an annotation. It is brought to the strict form that
 * every connector's settings are held to, by leaving out what says nothing.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../contract/json.ts";
import { unreachableSecret } from "../spec/secret-fields.ts";
import { knowsFormat, knowsKeyword } from "../spec/validation.ts";

/** Keywords whose value is a schema, a list of schemas, or schemas by name. */
const ofOne = new Set(["items", "not", "if", "then", "else", "additionalProperties", "contains"]);
const ofMany = new Set(["oneOf", "anyOf", "allOf"]);
const ofNamed = new Set(["properties", "patternProperties", "$defs", "definitions"]);

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

function below(keyword: string, value: JsonValue): JsonValue {
  if (ofOne.has(keyword)) return part(value);
  if (ofMany.has(keyword) && Array.isArray(value)) return value.map(part);
  if (ofNamed.has(keyword) && isJsonObject(value))
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, part(one)]));
  return value;
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
