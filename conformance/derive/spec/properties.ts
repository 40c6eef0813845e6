/** A spec taken apart: its properties at any depth, its objects, and all schemas in it. */
import type { JsonObject, JsonValue } from "svc-connectors";
import { isJsonObject, parsePointer, toPointer, valueAt } from "svc-connectors/host";

export interface SpecProperty {
  /** Dotted: "credentials.api_token"; "[]" stands for the items of a list. */
  readonly path: string;
  readonly schema: JsonObject;
  readonly isRequired: boolean;
}

/** An object that the spec describes. */
export interface SpecObject {
  /** "" is the whole configuration. */
  readonly path: string;
  readonly required: readonly string[];
  /** Also those that its alternatives and the object around them declare. */
  readonly known: readonly string[];
}

/**
 * Every property of a spec at any depth, also inside lists and the alternatives of oneOf, anyOf and
 * allOf; constants that tell alternatives apart are left out.
 */
export function specProperties(spec: JsonObject, prefix = ""): SpecProperty[] {
  const required = Array.isArray(spec.required) ? spec.required : [];
  const own = Object.entries(membersOf(spec.properties)).flatMap(([name, schema]) => {
    if (Object.hasOwn(schema, "const")) return [];
    const path = prefix === "" ? name : `${prefix}.${name}`;
    return [{ path, schema, isRequired: required.includes(name) }, ...specProperties(schema, path)];
  });
  const items = isJsonObject(spec.items) ? specProperties(spec.items, `${prefix}[]`) : [];
  return [...own, ...items, ...alternativesOf(spec).flatMap((one) => specProperties(one, prefix))];
}

/**
 * Every object of a spec. An alternative may require what stands beside it, and the other way
 * round.
 */
export function specObjects(
  spec: JsonObject,
  path = "",
  around: readonly string[] = [],
): SpecObject[] {
  const known = [...new Set([...around, ...declaredIn(spec)])];
  const required = Array.isArray(spec.required) ? spec.required.map(String) : [];
  const own =
    required.length > 0 || known.length > around.length ? [{ path, required, known }] : [];
  const below = Object.entries(membersOf(spec.properties)).flatMap(([name, schema]) =>
    specObjects(schema, path === "" ? name : `${path}.${name}`),
  );
  const items = isJsonObject(spec.items) ? specObjects(spec.items, `${path}[]`) : [];
  return [
    ...own,
    ...below,
    ...items,
    ...alternativesOf(spec).flatMap((one) => specObjects(one, path, known)),
  ];
}

const declaredIn = (spec: JsonObject): string[] => [
  ...Object.keys(membersOf(spec.properties)),
  ...alternativesOf(spec).flatMap(declaredIn),
];

export interface Subschema {
  /** JSON pointer into the spec. */
  readonly pointer: string;
  readonly schema: JsonObject;
}

const mapKeywords = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];
const schemaKeywords = [
  "items",
  "additionalProperties",
  "contains",
  "propertyNames",
  "if",
  "then",
  "else",
  "not",
];
const listKeywords = ["oneOf", "anyOf", "allOf", "prefixItems", "items"];

/** Every schema within a schema, itself first. */
export function subschemas(schema: JsonObject, pointer = ""): Subschema[] {
  const below = (part: JsonValue | undefined, at: string) =>
    isJsonObject(part) ? subschemas(part, `${pointer}/${at}`) : [];
  return [
    { pointer, schema },
    ...mapKeywords.flatMap((keyword) =>
      Object.entries(membersOf(schema[keyword])).flatMap(([name, part]) =>
        below(part, keyword + toPointer(name)),
      ),
    ),
    ...schemaKeywords.flatMap((keyword) => below(schema[keyword], keyword)),
    ...listKeywords.flatMap((keyword) =>
      listOf(schema[keyword]).flatMap((part, index) => below(part, `${keyword}/${index}`)),
    ),
  ];
}

/** "/properties/credentials/oneOf/0/properties/token" → "credentials.token". */
export const pathOf = (pointer: string) =>
  [...pointer.matchAll(/\/(?:properties|patternProperties|\$defs|definitions)\/([^/]+)/g)]
    .flatMap(([, name]) => parsePointer(`/${name}`))
    .join(".") || "the spec";

/**
 * Definitions within definitions: deeper ones are left as they are, as are those that contain
 * themselves.
 */
const maxReferenceDepth = 8;

/**
 * The spec with its references to its own parts ("#/$defs/Region") replaced by these parts; what
 * stands beside a reference wins.
 */
export function inlined(spec: JsonObject): JsonObject {
  const replace = (value: JsonValue, depth: number): JsonValue => {
    if (Array.isArray(value)) return value.map((part) => replace(part, depth));
    if (!isJsonObject(value)) return value;
    const { $ref, ...beside } = value;
    const target =
      typeof $ref === "string" && depth < maxReferenceDepth ? partAt(spec, $ref) : undefined;
    if (target) return replace({ ...target, ...beside }, depth + 1);
    return Object.fromEntries(
      Object.entries(value).map(([name, part]) => [
        name,
        name === "$defs" || name === "definitions" ? part : replace(part, depth),
      ]),
    );
  };
  return replace(spec, 0) as JsonObject;
}

function partAt(spec: JsonObject, reference: string): JsonObject | undefined {
  if (!reference.startsWith("#/")) return undefined;
  const part = valueAt(spec, decodeURIComponent(reference.slice(1)));
  return isJsonObject(part) ? part : undefined;
}

export const alternativesOf = (schema: JsonObject): JsonObject[] =>
  [schema.oneOf, schema.anyOf, schema.allOf].flatMap(listOf).filter(isJsonObject);

const listOf = (value: JsonValue | undefined): JsonValue[] => (Array.isArray(value) ? value : []);
function membersOf(value: JsonValue | undefined): { readonly [name: string]: JsonObject } {
  if (!isJsonObject(value)) return {};
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, JsonObject] => isJsonObject(entry[1])),
  );
}
