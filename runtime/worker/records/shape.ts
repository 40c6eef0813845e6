/**
 * A JSON Schema as the record writer needs it: a list of alternatives of which a value must fit
 * one. `schema.ts` makes it of a schema.
 */
import { isJsonEqual } from "../../wire/exact-json.ts";
import type { TextTest } from "./formats.ts";

/** A value fits when it fits one of them. Empty: nothing fits. */
export type Shape = readonly Alternative[];

/** Bits of the JSON types. A number is an integer or a fraction. */
export const typeBits = {
  null: 1,
  boolean: 2,
  integer: 4,
  fraction: 8,
  string: 16,
  array: 32,
  object: 64,
} as const;
export const allTypes = 127;

export interface Alternative {
  /** Bits of {@link typeBits}. */
  readonly types: number;
  /** enum and const. */
  readonly values: readonly unknown[] | undefined;
  readonly text: TextLimits;
  readonly number: NumberLimits;
  readonly array: ArrayLimits;
  readonly object: ObjectLimits;
  /** oneOf whose branches overlap: exactly one shape of each list must fit. */
  readonly exactlyOne: readonly (readonly Shape[])[];
  /** not: none of them may fit. */
  readonly none: readonly Shape[];
}

export interface TextLimits {
  /** In code points, as JSON Schema counts. */
  readonly minLength: number;
  readonly maxLength: number;
  readonly tests: readonly TextTest[];
}

export interface NumberLimits {
  readonly minimum: number;
  readonly maximum: number;
  readonly above: number;
  readonly below: number;
  readonly multiplesOf: readonly number[];
}

export interface ArrayLimits {
  readonly minItems: number;
  readonly maxItems: number;
  readonly isUnique: boolean;
  readonly prefix: readonly Shape[];
  /** Items after the prefix; undefined = anything. */
  readonly items: Shape | undefined;
}

export interface ObjectLimits {
  readonly properties: ReadonlyMap<string, Shape>;
  readonly required: ReadonlySet<string>;
  readonly patterns: readonly { readonly form: RegExp; readonly shape: Shape }[];
  /** Of properties that neither `properties` nor `patterns` name; undefined = they are dropped. */
  readonly additional: Shape | undefined;
  /**
   * Says additionalProperties: false. Writing drops such properties all the same; choosing among
   * alternatives heeds it.
   */
  readonly isSealed: boolean;
  /** Says which properties there are. An object schema that says nothing at all is open. */
  readonly isDeclared: boolean;
  readonly minProperties: number;
  readonly maxProperties: number;
}

export const freeText: TextLimits = { minLength: 0, maxLength: Infinity, tests: [] };
export const freeNumber: NumberLimits = {
  minimum: -Infinity,
  maximum: Infinity,
  above: -Infinity,
  below: Infinity,
  multiplesOf: [],
};
export const freeArray: ArrayLimits = {
  minItems: 0,
  maxItems: Infinity,
  isUnique: false,
  prefix: [],
  items: undefined,
};
export const freeObject: ObjectLimits = {
  properties: new Map(),
  required: new Set(),
  patterns: [],
  additional: undefined,
  isSealed: false,
  isDeclared: false,
  minProperties: 0,
  maxProperties: Infinity,
};

export const unlimited: Alternative = {
  types: allTypes,
  values: undefined,
  text: freeText,
  number: freeNumber,
  array: freeArray,
  object: freeObject,
  exactlyOne: [],
  none: [],
};

/** Any JSON value. */
export const anything: Shape = [unlimited];

/** Shape of properties that are not named; undefined = they are dropped. */
export function additionalShape(object: ObjectLimits): Shape | undefined {
  return object.isDeclared ? object.additional : anything;
}

/**
 * The shape of values that fit both. `refuse` is called for the few combinations that a projection
 * cannot express.
 */
export function intersect(a: Shape, b: Shape, refuse: (problem: string) => never): Shape {
  if (a === anything) return b;
  if (b === anything) return a;
  return a
    .flatMap((left) => b.map((right) => intersectAlternatives(left, right, refuse)))
    .filter((alternative) => alternative.types !== 0);
}

function intersectAlternatives(
  a: Alternative,
  b: Alternative,
  refuse: (problem: string) => never,
): Alternative {
  return {
    types: a.types & b.types,
    values: intersectValues(a.values, b.values),
    text: either(a.text, b.text, freeText, () => ({
      minLength: Math.max(a.text.minLength, b.text.minLength),
      maxLength: Math.min(a.text.maxLength, b.text.maxLength),
      tests: [...a.text.tests, ...b.text.tests],
    })),
    number: either(a.number, b.number, freeNumber, () => ({
      minimum: Math.max(a.number.minimum, b.number.minimum),
      maximum: Math.min(a.number.maximum, b.number.maximum),
      above: Math.max(a.number.above, b.number.above),
      below: Math.min(a.number.below, b.number.below),
      multiplesOf: [...a.number.multiplesOf, ...b.number.multiplesOf],
    })),
    array: either(a.array, b.array, freeArray, () => intersectArrays(a.array, b.array, refuse)),
    object: either(a.object, b.object, freeObject, () =>
      intersectObjects(a.object, b.object, refuse),
    ),
    exactlyOne: [...a.exactlyOne, ...b.exactlyOne],
    none: [...a.none, ...b.none],
  };
}

function either<T>(a: T, b: T, free: T, both: () => T): T {
  return a === free ? b : b === free ? a : both();
}

function intersectValues(
  a: Alternative["values"],
  b: Alternative["values"],
): Alternative["values"] {
  if (a === undefined || b === undefined) return a ?? b;
  return a.filter((value) => b.some((other) => isJsonEqual(value, other)));
}

function intersectArrays(
  a: ArrayLimits,
  b: ArrayLimits,
  refuse: (problem: string) => never,
): ArrayLimits {
  const itemAt = (array: ArrayLimits, index: number) =>
    array.prefix[index] ?? array.items ?? anything;
  const prefixLength = Math.max(a.prefix.length, b.prefix.length);
  return {
    minItems: Math.max(a.minItems, b.minItems),
    maxItems: Math.min(a.maxItems, b.maxItems),
    isUnique: a.isUnique || b.isUnique,
    prefix: Array.from({ length: prefixLength }, (_, index) =>
      intersect(itemAt(a, index), itemAt(b, index), refuse),
    ),
    items: intersect(a.items ?? anything, b.items ?? anything, refuse),
  };
}

function intersectObjects(
  a: ObjectLimits,
  b: ObjectLimits,
  refuse: (problem: string) => never,
): ObjectLimits {
  const isOpen = (object: ObjectLimits) =>
    object.patterns.length > 0 || object.additional !== undefined;
  if (isOpen(a) && isOpen(b) && a.patterns.length + b.patterns.length > 0) {
    refuse("combines patternProperties with other open objects");
  }
  const properties = new Map<string, Shape>();
  for (const name of [...a.properties.keys(), ...b.properties.keys()]) {
    const member = intersect(memberShape(a, name, refuse), memberShape(b, name, refuse), refuse);
    // A name that one part forbids is dropped like any undeclared one.
    if (member.length > 0) properties.set(name, member);
  }
  return {
    properties,
    required: new Set([...a.required, ...b.required]),
    patterns: [...a.patterns, ...b.patterns],
    additional:
      a.isSealed || b.isSealed
        ? undefined
        : a.additional && b.additional
          ? intersect(a.additional, b.additional, refuse)
          : (a.additional ?? b.additional),
    isSealed: a.isSealed || b.isSealed,
    isDeclared: a.isDeclared || b.isDeclared,
    minProperties: Math.max(a.minProperties, b.minProperties),
    maxProperties: Math.min(a.maxProperties, b.maxProperties),
  };
}

/**
 * The verdict of one part of an allOf on a property: in JSON Schema an object is open unless it
 * says otherwise.
 */
function memberShape(
  object: ObjectLimits,
  name: string,
  refuse: (problem: string) => never,
): Shape {
  const declared = object.properties.get(name) ?? patternShape(object, name, refuse);
  return declared ?? object.additional ?? (object.isSealed ? [] : anything);
}

/** The shape that `patternProperties` give to a name; undefined when no pattern matches. */
export function patternShape(
  object: ObjectLimits,
  name: string,
  refuse: (problem: string) => never,
): Shape | undefined {
  const matches = object.patterns.filter(({ form }) => form.test(name));
  if (matches.length === 0) return undefined;
  return matches.reduce<Shape>((shape, match) => intersect(shape, match.shape, refuse), anything);
}
