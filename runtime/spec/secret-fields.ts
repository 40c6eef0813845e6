import { isJsonObject, type JsonObject, type JsonValue } from "../contract/json.ts";
import { isSecret, schemaAlternatives } from "../contract/spec.ts";

/**
 * Where a secret is declared in a place that the host does not take out of the configuration: in
 * lists, maps, references and conditions. Undefined when there is none. Properties, at any depth
 * and in alternatives, are taken out.
 */
export function unreachableSecret(schema: JsonObject, path = ""): string | undefined {
  for (const [keyword, part] of Object.entries(schema)) {
    const here = path === "" ? keyword : `${path}.${keyword}`;
    let found: string | undefined;
    if (keyword === "properties") found = inProperties(part, here);
    else if (schemaAlternatives.includes(keyword as "anyOf"))
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
    if (!isJsonObject(part) || isSecret(part)) continue;
    const found = unreachableSecret(part, `${path}.${name}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** True when a secret is declared anywhere below. */
function holdsSecret(value: JsonValue): boolean {
  if (Array.isArray(value)) return value.some(holdsSecret);
  return isJsonObject(value) && (isSecret(value) || Object.values(value).some(holdsSecret));
}

const listOf = (value: JsonValue | undefined): JsonObject[] =>
  Array.isArray(value) ? value.filter(isJsonObject) : [];
