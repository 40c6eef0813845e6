import type { JsonObject, JsonValue } from "../contract/json.ts";
import { secretKeyword } from "../contract/spec.ts";

const alternatives = ["anyOf", "oneOf", "allOf"] as const;

/** True when a property of this schema holds a secret: by our mark, Airbyte's or JSON Schema's own, also as one of several alternatives. */
export function isSecret(schema: JsonObject): boolean {
  if (schema[secretKeyword] === true || schema.airbyte_secret === true || schema.writeOnly === true) return true;
  return alternatives.some((keyword) => listOf(schema[keyword]).some(isSecret));
}

/**
 * Where a secret is declared in a place that the host does not take out of the configuration: in lists, maps, references
 * and conditions. Undefined when there is none. Properties, at any depth and in alternatives, are taken out.
 */
export function unreachableSecret(schema: JsonObject, path = ""): string | undefined {
  for (const [keyword, part] of Object.entries(schema)) {
    const here = path === "" ? keyword : `${path}.${keyword}`;
    let found: string | undefined;
    if (keyword === "properties") found = inProperties(part, here);
    else if (alternatives.includes(keyword as "anyOf"))
      found = listOf(part)
        .map((one) => unreachableSecret(one, here))
        .find(Boolean);
    else if (keyword !== "default" && keyword !== "examples" && holdsSecret(part)) found = here;
    if (found !== undefined) return found;
  }
  return undefined;
}

function inProperties(properties: JsonValue, path: string): string | undefined {
  for (const [name, part] of Object.entries((properties ?? {}) as JsonObject)) {
    if (!isObject(part) || isSecret(part)) continue;
    const found = unreachableSecret(part, `${path}.${name}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** True when a secret is declared anywhere below. */
function holdsSecret(value: JsonValue): boolean {
  if (Array.isArray(value)) return value.some(holdsSecret);
  return isObject(value) && (isSecret(value) || Object.values(value).some(holdsSecret));
}

const listOf = (value: JsonValue | undefined): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : []);
const isObject = (value: JsonValue): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
