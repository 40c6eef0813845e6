import { budgets } from "../contract/budgets.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../contract/json.ts";
import { measureJson } from "../wire/bounded-json.ts";

/** Keywords under which data stands, and no schemas. */
export const dataKeywords: ReadonlySet<string> = new Set([
  ...["default", "examples", "const", "enum", "required", "type"],
]);
/** Keywords under which schemas stand by names of others' choice. */
export const namedSchemas: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "$defs",
  "definitions",
  "dependentSchemas",
]);

/**
 * The budget that a schema of a connector exceeds, before anything is made of it: compiling takes
 * time for each of its parts, and more than linear time for long lists. Undefined: none.
 */
export function schemaExcess(schema: JsonObject): string | undefined {
  const { bytes, values, depth, count } = budgets.schema;
  const text = Buffer.from(JSON.stringify(schema));
  if (text.length > bytes) return `is larger than ${bytes} bytes`;
  const measured = measureJson(text);
  if (measured.depth > depth) return `is nested deeper than ${depth} levels`;
  if (measured.values > values) return `has more than ${values} values`;
  return longestList(schema) > budgets.choices.count[0]
    ? `has a list of more than ${budgets.choices.count[0]} items`
    : countParts(schema) > count[0]
      ? `has more than ${count[0]} settings and other parts`
      : longPattern(schema);
}

function longestList(value: JsonValue): number {
  if (Array.isArray(value)) return Math.max(value.length, ...value.map(longestList));
  return isJsonObject(value) ? Math.max(0, ...Object.values(value).map(longestList)) : 0;
}

/** The schemas in a schema, itself included. */
function countParts(schema: JsonObject): number {
  const below = Object.entries(schema).flatMap(([keyword, part]): JsonObject[] => {
    if (dataKeywords.has(keyword)) return [];
    // Each name in it becomes code of its own.
    if (keyword === "dependentRequired")
      return Object.values(part ?? {})
        .flat()
        .map(() => ({}));
    if (isJsonObject(part)) return namedSchemas.has(keyword) ? objectsOf(part) : [part];
    return Array.isArray(part) ? part.filter(isJsonObject) : [];
  });
  return below.reduce((sum, one) => sum + countParts(one), 1);
}

const objectsOf = (value: JsonObject) => Object.values(value).filter(isJsonObject);

/** A pattern is looked for among the names of settings too: none has a name of that length. */
function longPattern(value: JsonValue): string | undefined {
  const [most] = budgets.pattern.count;
  if (Array.isArray(value)) return value.map(longPattern).find(Boolean);
  if (!isJsonObject(value)) return undefined;
  for (const [name, part] of Object.entries(value)) {
    const isLong =
      (name === "pattern" && typeof part === "string" && part.length > most) || name.length > most;
    const found = isLong ? `has a pattern of more than ${most} characters` : longPattern(part);
    if (found !== undefined) return found;
  }
  return undefined;
}
