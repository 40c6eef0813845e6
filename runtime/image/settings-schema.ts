/**
 * The schema of an image's settings, as authors write it for programs that take a draft of JSON
 * Schema lightly: what constrains nothing here is left out, so that the rest can be held to.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../contract/json.ts";
import { unreachableSecret } from "../spec/secret-fields.ts";

/** Keywords of schemas within schemas. */
const ofOne = new Set(["items", "not", "if", "then", "else", "additionalProperties", "contains"]);
const ofMany = new Set(["oneOf", "anyOf", "allOf"]);
const ofNamed = new Set(["properties", "patternProperties", "$defs", "definitions"]);
/** Keywords of consoles and of OpenAPI, besides those of Airbyte's and of extensions. */
const ofConsoles = new Set([
  ...["display_type", "groups", "example", "enumNames", "min", "max", "discriminator", "ui"],
]);
const ofRuntime = new Set(["airbyte_secret", "airbyte_type"]);

/** A secret that stands where it is not looked for stays, so that the spec is refused for it. */
export function settingsSchema(schema: JsonObject): JsonObject {
  const { $schema, ...rest } = schema;
  // A dialect that names itself in another way than as text is no schema.
  const isNamed = $schema === undefined || typeof $schema === "string";
  return { ...(isNamed ? {} : { $schema }), ...part(rest) };
}

function part(schema: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(schema).flatMap(([name, value]) =>
      saysNothing(name, value) ? [] : [[name, within(name, value)]],
    ),
  );
}

function within(name: string, value: JsonValue): JsonValue {
  if (ofOne.has(name)) return partOf(value);
  if (ofMany.has(name) && Array.isArray(value)) return value.map(partOf);
  if (ofNamed.has(name) && isJsonObject(value))
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, partOf(one)]));
  return value;
}

const partOf = (value: JsonValue): JsonValue => (isJsonObject(value) ? part(value) : value);

function saysNothing(name: string, value: JsonValue): boolean {
  if (name === "examples") return !Array.isArray(value);
  // Within a property, as drafts before the fourth had it: there it is the object that says so.
  if (name === "required") return typeof value === "boolean";
  if (name === "pattern") return typeof value === "string" && !isPattern(value);
  const isExtension = /^(?:x-|airbyte_)/.test(name) && !ofRuntime.has(name);
  return (
    (isExtension || ofConsoles.has(name)) && unreachableSecret({ [name]: value }) === undefined
  );
}

/** Patterns are written for another language: the image tries one that cannot be read here. */
function isPattern(text: string): boolean {
  try {
    return new RegExp(text, "u") instanceof RegExp;
  } catch {
    return false;
  }
}
