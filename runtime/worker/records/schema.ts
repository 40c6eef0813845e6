/**
 * Reads a stream's JSON Schema into a {@link Shape}: `$ref`, `allOf`, `anyOf` and type lists are
 * worked out once. A keyword that cannot be honoured is refused, never skipped.
 */

import { ConnectorError } from "../../contract/errors.ts";
import type { JsonSchema } from "../../contract/json.ts";
import { isJsonObject } from "../../contract/json.ts";
import { valueAt } from "../../wire/json-pointer.ts";
import { localFormats, type TextTest, textFormats } from "./formats.ts";
import {
  type Alternative,
  type ArrayLimits,
  allTypes,
  anything,
  freeArray,
  freeNumber,
  freeObject,
  freeText,
  intersect,
  type NumberLimits,
  type ObjectLimits,
  patternShape,
  type Shape,
  type TextLimits,
  typeBits,
  unlimited,
} from "./shape.ts";

// More would come from multiplying unions in allOf; no schema of a record needs it.
const maxAlternatives = 256;
const maxSchemaDepth = 64;

const unsupported = [
  "if",
  "then",
  "else",
  "contains",
  "minContains",
  "maxContains",
  "propertyNames",
  "dependentRequired",
  "dependentSchemas",
  "dependencies",
  "unevaluatedItems",
  "$dynamicRef",
  "$recursiveRef",
] as const;

/** @throws CONNECTOR_INVALID with the path of what is wrong or not supported. */
export function readShape(schema: unknown): Shape {
  return readSchema(schema, { root: isSchema(schema) ? schema : {}, path: "schema", depth: 0 });
}

interface SchemaPlace {
  readonly root: JsonSchema;
  readonly path: string;
  readonly depth: number;
}

const inside = (place: SchemaPlace, step: string): SchemaPlace => ({
  ...place,
  path: `${place.path}/${step}`,
  depth: place.depth + 1,
});
const isSchema = (value: unknown): value is JsonSchema => isJsonObject(value);

function invalid(place: SchemaPlace, problem: string): ConnectorError {
  return new ConnectorError("CONNECTOR_INVALID", { path: place.path, problem });
}

const refuseAt = (place: SchemaPlace) => (problem: string) => {
  throw invalid(place, problem);
};

function readSchema(schema: unknown, place: SchemaPlace): Shape {
  if (schema === true) return anything;
  if (schema === false) return [];
  if (!isSchema(schema)) throw invalid(place, "is not a JSON Schema");
  if (place.depth > maxSchemaDepth)
    throw invalid(place, "is nested too deeply or refers to itself");
  for (const keyword of unsupported) {
    if (schema[keyword] !== undefined)
      throw invalid(place, `uses the keyword "${keyword}", which records do not support`);
  }
  if (schema.unevaluatedProperties !== undefined && schema.unevaluatedProperties !== false) {
    throw invalid(
      place,
      'uses the keyword "unevaluatedProperties", which records support only as false',
    );
  }
  const and = (a: Shape, b: Shape) => {
    const both = intersect(a, b, refuseAt(place));
    if (both.length > maxAlternatives) throw invalid(place, "combines too many alternatives");
    return both;
  };
  let shape = readOwn(schema, place);
  if (schema.$ref !== undefined) shape = and(shape, readReference(schema.$ref, place));
  for (const part of readList(schema, "allOf", place)) shape = and(shape, part);
  if (schema.anyOf !== undefined) shape = and(shape, readList(schema, "anyOf", place).flat());
  if (schema.oneOf !== undefined) shape = and(shape, exclusive(readList(schema, "oneOf", place)));
  if (schema.not !== undefined) {
    const excluded = readSchema(schema.not, inside(place, "not"));
    shape = shape.map((alternative) => ({ ...alternative, none: [...alternative.none, excluded] }));
  }
  return shape;
}

function readList(schema: JsonSchema, keyword: string, place: SchemaPlace): Shape[] {
  const parts = schema[keyword] ?? [];
  if (!Array.isArray(parts)) throw invalid(place, `needs a list in "${keyword}"`);
  return parts.map((part, index) => readSchema(part, inside(place, `${keyword}/${index}`)));
}

/** A union of branches; the condition that only one may fit is kept where two could. */
function exclusive(branches: readonly Shape[]): Shape {
  const typesOf = (shape: Shape) =>
    shape.reduce((types, alternative) => types | alternative.types, 0);
  let seen = 0;
  let isOverlapping = false;
  for (const branch of branches) {
    isOverlapping ||= (seen & typesOf(branch)) !== 0;
    seen |= typesOf(branch);
  }
  const union = branches.flat();
  if (!isOverlapping) return union;
  return union.map((alternative) => ({
    ...alternative,
    exactlyOne: [...alternative.exactlyOne, branches],
  }));
}

/** `#`, `#/$defs/name` and other JSON pointers into the same schema. */
function readReference(reference: unknown, place: SchemaPlace): Shape {
  if (typeof reference !== "string" || !/^#(\/|$)/.test(reference))
    throw invalid(place, "refers to another document");
  const target = valueAt(place.root, reference.slice(1));
  if (target === undefined) throw invalid(place, "refers to a definition that is missing");
  return readSchema(target, inside(place, "$ref"));
}

/** The keywords of the schema itself, without those that hold alternatives. */
function readOwn(schema: JsonSchema, place: SchemaPlace): Shape {
  const own: Alternative = {
    ...unlimited,
    types: readTypes(schema, place),
    values: "const" in schema ? [schema.const] : readValues(schema, place),
    text: readText(schema, place),
    number: readNumber(schema, place),
    array: readArray(schema, place),
    object: readObject(schema, place),
  };
  const isLimited = (Object.keys(own) as (keyof Alternative)[]).some(
    (part) => own[part] !== unlimited[part],
  );
  return isLimited ? [own] : anything;
}

function readTypes(schema: JsonSchema, place: SchemaPlace): number {
  const isIntegerFormat = typeof schema.format === "string" && integerFormats.has(schema.format);
  return readTypeNames(schema, place) & (isIntegerFormat ? ~typeBits.fraction : allTypes);
}

function readTypeNames(schema: JsonSchema, place: SchemaPlace): number {
  if (schema.type === undefined) return allTypes;
  const nullable = schema.nullable === true ? typeBits.null : 0;
  return [schema.type].flat().reduce((types: number, type) => {
    if (type === "number") return types | typeBits.integer | typeBits.fraction;
    if (typeof type !== "string" || type === "fraction" || !Object.hasOwn(typeBits, type))
      throw invalid(place, "has an unknown type");
    return types | typeBits[type as keyof typeof typeBits];
  }, nullable);
}

function readValues(schema: JsonSchema, place: SchemaPlace): readonly unknown[] | undefined {
  if (schema.enum === undefined) return undefined;
  if (!Array.isArray(schema.enum)) throw invalid(place, 'needs a list in "enum"');
  return schema.enum;
}

/** A keyword that holds a number. */
function readLimit(
  schema: JsonSchema,
  keyword: string,
  otherwise: number,
  place: SchemaPlace,
): number {
  const limit = schema[keyword] ?? otherwise;
  if (typeof limit !== "number" || Number.isNaN(limit))
    throw invalid(place, `needs a number in "${keyword}"`);
  return limit;
}

/** The shared object when no keyword of the group is there: identity then says "free". */
function ifAny<T>(schema: JsonSchema, keywords: readonly string[], free: T, read: () => T): T {
  return keywords.some((keyword) => schema[keyword] !== undefined) ? read() : free;
}

function readText(schema: JsonSchema, place: SchemaPlace): TextLimits {
  return ifAny(schema, ["minLength", "maxLength", "pattern", "format"], freeText, () => {
    const limits = {
      minLength: readLimit(schema, "minLength", 0, place),
      maxLength: readLimit(schema, "maxLength", Infinity, place),
      tests: [...readPattern(schema.pattern, place), ...readFormat(schema)],
    };
    return limits.minLength <= 0 && limits.maxLength === Infinity && limits.tests.length === 0
      ? freeText
      : limits;
  });
}

function readFormat(schema: JsonSchema): readonly TextTest[] {
  const isLocal =
    typeof schema.airbyte_type === "string" && schema.airbyte_type.endsWith("_without_timezone");
  const format = String(schema.format);
  const test = (isLocal ? localFormats.get(format) : undefined) ?? textFormats.get(format);
  return test === undefined ? [] : [test];
}

function readPattern(pattern: unknown, place: SchemaPlace): readonly TextTest[] {
  if (pattern === undefined) return [];
  const form = readForm(pattern, place);
  return [{ isPlain: false, accepts: (text) => form.test(text) }];
}

function readForm(pattern: unknown, place: SchemaPlace): RegExp {
  try {
    if (typeof pattern === "string") return new RegExp(pattern, "u");
  } catch {
    // Reported below.
  }
  throw invalid(place, "has a pattern that is not a regular expression");
}

/** The number formats of OpenAPI. */
const integerFormats: ReadonlyMap<string, NumberLimits> = new Map([
  ["int32", { ...freeNumber, minimum: -(2 ** 31), below: 2 ** 31 }],
  ["int64", { ...freeNumber, minimum: -(2 ** 63), below: 2 ** 63 }],
]);

function readNumber(schema: JsonSchema, place: SchemaPlace): NumberLimits {
  const keywords = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
  const format = integerFormats.get(String(schema.format)) ?? freeNumber;
  return ifAny(schema, keywords, format, () => ({
    minimum: Math.max(format.minimum, readLimit(schema, "minimum", -Infinity, place)),
    maximum: readLimit(schema, "maximum", Infinity, place),
    above: readLimit(schema, "exclusiveMinimum", -Infinity, place),
    below: Math.min(format.below, readLimit(schema, "exclusiveMaximum", Infinity, place)),
    multiplesOf: schema.multipleOf === undefined ? [] : [readLimit(schema, "multipleOf", 1, place)],
  }));
}

function readArray(schema: JsonSchema, place: SchemaPlace): ArrayLimits {
  return ifAny(
    schema,
    ["minItems", "maxItems", "uniqueItems", "items", "prefixItems"],
    freeArray,
    () => {
      // Before draft 2020-12 (and in TypeBox) the items of a tuple are a list in `items`, those
      // after it in `additionalItems`.
      const isTuple = Array.isArray(schema.items);
      const rest = isTuple ? schema.additionalItems : schema.items;
      return {
        minItems: readLimit(schema, "minItems", 0, place),
        maxItems: readLimit(schema, "maxItems", Infinity, place),
        isUnique: schema.uniqueItems === true,
        prefix: readList(schema, isTuple ? "items" : "prefixItems", place),
        items: rest === undefined ? undefined : readSchema(rest, inside(place, "items")),
      };
    },
  );
}

function readObject(schema: JsonSchema, place: SchemaPlace): ObjectLimits {
  const keywords = [
    "properties",
    "required",
    "patternProperties",
    "additionalProperties",
    "minProperties",
    "maxProperties",
  ];
  return ifAny(schema, keywords, freeObject, () => {
    const { additionalProperties: additional, required = [] } = schema;
    if (!Array.isArray(required)) throw invalid(place, 'needs a list in "required"');
    const patterns = readMembers(schema, "patternProperties", place).map(([pattern, shape]) => ({
      form: readForm(pattern, place),
      shape,
    }));
    // Two patterns may match one name: whether that can be written is settled now, not at the first
    // such row.
    for (const [index, { shape }] of patterns.entries()) {
      for (const other of patterns.slice(0, index)) intersect(shape, other.shape, refuseAt(place));
    }
    const properties = readMembers(schema, "properties", place).map(
      ([name, shape]): [string, Shape] => {
        const matched =
          patternShape({ ...freeObject, patterns }, name, refuseAt(place)) ?? anything;
        return [name, intersect(shape, matched, refuseAt(place))];
      },
    );
    return {
      properties: new Map(properties),
      required: new Set(required.map(String)),
      patterns,
      additional:
        additional === undefined || additional === false
          ? undefined
          : readSchema(additional, inside(place, "additionalProperties")),
      isSealed: additional === false,
      isDeclared:
        schema.properties !== undefined ||
        schema.patternProperties !== undefined ||
        additional !== undefined,
      minProperties: readLimit(schema, "minProperties", 0, place),
      maxProperties: readLimit(schema, "maxProperties", Infinity, place),
    };
  });
}

function readMembers(schema: JsonSchema, keyword: string, place: SchemaPlace): [string, Shape][] {
  const members = schema[keyword] ?? {};
  if (!isSchema(members)) throw invalid(place, `needs an object in "${keyword}"`);
  return Object.entries(members).map(([name, member]) => [
    name,
    readSchema(member, inside(place, `${keyword}/${name}`)),
  ]);
}
