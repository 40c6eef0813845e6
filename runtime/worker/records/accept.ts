/**
 * Whether a value fits a shape as a whole: what JSON Schema calls valid. The writer asks it about
 * scalars and to choose among objects.
 */
import {
  isIntegerText,
  isJsonEqual,
  isPlainObject,
  isRawJson,
  maxDepth,
  toJsonValue,
} from "../../wire/exact-json.ts";
import {
  type Alternative,
  additionalShape,
  anything,
  patternShape,
  type Shape,
  typeBits,
} from "./shape.ts";

/**
 * How strictly objects are judged. "projected": as the writer will write them, without undeclared
 * properties and with null for a required property that is missing and may be null. "given": as
 * they are.
 */
export type Judgement = "projected" | "given";

/** True when a value fits. Dates, raw JSON and bigint count as what they are written as. */
export function accepts(shape: Shape, value: unknown, judgement: Judgement, depth = 0): boolean {
  if (depth > maxDepth) return false;
  const plain = toJsonValue(value);
  return shape.some(
    (alternative) =>
      acceptsByType(alternative, plain, judgement, depth) &&
      meetsConditions(alternative, plain, depth),
  );
}

/** The conditions that belong to no type: enum, const, oneOf and not. */
export function meetsConditions(
  { values, exactlyOne, none }: Alternative,
  value: unknown,
  depth: number,
): boolean {
  const fits = (shape: Shape) => accepts(shape, value, "given", depth);
  return (
    (values === undefined || values.some((allowed) => isJsonEqual(allowed, value))) &&
    exactlyOne.every((branches) => branches.filter(fits).length === 1) &&
    !none.some(fits)
  );
}

function acceptsByType(
  alternative: Alternative,
  value: unknown,
  judgement: Judgement,
  depth: number,
): boolean {
  const { types } = alternative;
  switch (typeof value) {
    case "string":
      return (types & typeBits.string) !== 0 && acceptsText(alternative, value);
    case "number":
      return Number.isFinite(value) && acceptsNumber(alternative, value, Number.isInteger(value));
    case "bigint":
      return acceptsNumber(alternative, value, true);
    case "boolean":
      return (types & typeBits.boolean) !== 0;
    case "object":
      if (value === null) return (types & typeBits.null) !== 0;
      if (isRawJson(value))
        return acceptsNumber(alternative, Number(value.rawJSON), isIntegerText(value.rawJSON));
      if (Array.isArray(value))
        return (types & typeBits.array) !== 0 && acceptsArray(alternative, value, judgement, depth);
      return (
        (types & typeBits.object) !== 0 &&
        isPlainObject(value) &&
        acceptsObject(alternative, value, judgement, depth)
      );
    default:
      return false;
  }
}

function acceptsText({ text }: Alternative, value: string): boolean {
  if (text.minLength > 0 || text.maxLength !== Infinity) {
    const length = codePointCount(value);
    if (length < text.minLength || length > text.maxLength) return false;
  }
  return text.tests.every((test) => test.accepts(value));
}

function codePointCount(text: string): number {
  let count = text.length;
  for (let at = 0; at < text.length - 1; at++) {
    const isPair =
      (text.charCodeAt(at) & 0xfc00) === 0xd800 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00;
    if (isPair) count--;
  }
  return count;
}

function acceptsNumber(
  { types, number }: Alternative,
  value: number | bigint,
  isInteger: boolean,
): boolean {
  return (
    (types & (isInteger ? typeBits.integer : typeBits.fraction)) !== 0 &&
    value >= number.minimum &&
    value <= number.maximum &&
    (value > number.above || number.above === -Infinity) &&
    (value < number.below || number.below === Infinity) &&
    number.multiplesOf.every((divisor) => isMultiple(value, divisor))
  );
}

function isMultiple(value: number | bigint, divisor: number): boolean {
  if (typeof value === "bigint" && Number.isInteger(divisor)) return value % BigInt(divisor) === 0n;
  return Number.isInteger(Number(value) / divisor);
}

function acceptsArray(
  { array }: Alternative,
  items: readonly unknown[],
  judgement: Judgement,
  depth: number,
): boolean {
  return (
    meetsArrayLimits({ array }, items) &&
    items.every((item, index) =>
      accepts(array.prefix[index] ?? array.items ?? anything, item, judgement, depth + 1),
    )
  );
}

/** Length and uniqueness. */
export function meetsArrayLimits(
  { array }: Pick<Alternative, "array">,
  items: readonly unknown[],
): boolean {
  const { length } = items;
  if (length < array.minItems || length > array.maxItems) return false;
  return (
    !array.isUnique ||
    items.every(
      (item, at) => !items.some((other, before) => before < at && isJsonEqual(other, item)),
    )
  );
}

function acceptsObject(
  { object }: Alternative,
  value: { readonly [key: string]: unknown },
  judgement: Judgement,
  depth: number,
): boolean {
  let count = 0;
  for (const key of Object.keys(value)) {
    const member = value[key];
    if (member === undefined) continue;
    const declared = object.properties.get(key) ?? patternShape(object, key, neverRefused);
    const shape =
      declared ?? (judgement === "projected" ? additionalShape(object) : openShape(object));
    if (shape === undefined) continue;
    if (!accepts(shape, member, judgement, depth + 1)) return false;
    count++;
  }
  for (const name of object.required) {
    if (Object.hasOwn(value, name) && value[name] !== undefined) continue;
    if (
      judgement === "given" ||
      !accepts(object.properties.get(name) ?? [], null, judgement, depth + 1)
    )
      return false;
    count++;
  }
  return count >= object.minProperties && count <= object.maxProperties;
}

const openShape = (object: Alternative["object"]) =>
  object.additional ?? (object.isSealed ? [] : anything);

/** Combinations of patterns were tried when the schema was read. */
const neverRefused = (): never => {
  throw new TypeError("unreachable");
};
