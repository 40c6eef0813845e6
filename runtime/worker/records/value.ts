/**
 * Writes one value by its shape, whatever the shape: the general way, which the generated code of
 * value-code.ts takes for all that it does not handle itself.
 */
import {
  isPlainObject,
  isRawJson,
  type JsonFaults,
  maxDepth,
  maxRowBytes,
  numberText,
  quote,
  toJsonValue,
  writeJson,
} from "../../wire/exact-json.ts";
import { accepts, meetsArrayLimits, meetsConditions } from "./accept.ts";
import {
  type Alternative,
  additionalShape,
  anything,
  patternShape,
  type Shape,
  typeBits,
} from "./shape.ts";

/** The faults that are noted while a row is written. */
export interface RowFaults extends JsonFaults {
  /** A property that the schema does not declare was left out. */
  dropped(name: string): void;
}

type Members = { readonly [key: string]: unknown };

/**
 * The JSON text of a value, or undefined when it does not fit. A member that does not fit is noted
 * and written as null; undeclared properties are left out.
 */
export function writeValue(
  shape: Shape,
  given: unknown,
  faults: RowFaults,
  depth: number,
): string | undefined {
  if (shape === anything) return writeJson(given, faults, depth);
  const value = toJsonValue(given);
  if (typeof value === "object" && value !== null && !isRawJson(value)) {
    if (depth >= maxDepth) faults.tooDeep();
    if (Array.isArray(value)) return writeArray(shape, value, faults, depth);
    return isPlainObject(value) ? writeObject(shape, value, faults, depth) : undefined;
  }
  return accepts(shape, value, "projected", depth) ? scalarText(value) : undefined;
}

/** The text of a scalar that fits a shape. */
function scalarText(value: unknown): string | undefined {
  if (typeof value === "string") return quote(value);
  if (typeof value === "number") return numberText(value);
  return isRawJson(value) ? value.rawJSON : String(value);
}

function writeArray(
  shape: Shape,
  items: readonly unknown[],
  faults: RowFaults,
  depth: number,
): string | undefined {
  const alternative = choose(shape, typeBits.array, items, depth, () => 0);
  if (
    alternative === undefined ||
    !meetsArrayLimits(alternative, items) ||
    !meetsConditions(alternative, items, depth)
  )
    return undefined;
  const { prefix, items: rest = anything } = alternative.array;
  let text = "";
  for (let index = 0; index < items.length; index++) {
    text +=
      (index > 0 ? "," : "") +
      writeMember(prefix[index] ?? rest, items[index], index, faults, depth + 1);
    if (text.length > maxRowBytes) faults.tooLarge();
  }
  return `[${text}]`;
}

function writeObject(
  shape: Shape,
  value: Members,
  faults: RowFaults,
  depth: number,
): string | undefined {
  const keptCount = ({ object }: Alternative) =>
    Object.keys(value).filter((key) => object.properties.has(key)).length;
  const alternative = choose(shape, typeBits.object, value, depth, keptCount);
  if (alternative === undefined || !meetsConditions(alternative, value, depth)) return undefined;
  const { object } = alternative;
  const additional = additionalShape(object);
  let text = "";
  let count = 0;
  const add = (name: string, member: Shape, content: unknown) => {
    text += `${count++ > 0 ? "," : ""}${quote(name)}:${writeMember(member, content, name, faults, depth + 1)}`;
    if (text.length > maxRowBytes) faults.tooLarge();
  };
  for (const key of Object.keys(value)) {
    const content = value[key];
    if (content === undefined) continue;
    const member =
      object.properties.get(key) ?? patternShape(object, key, faults.tooDeep) ?? additional;
    if (member === undefined) faults.dropped(key);
    else add(key, member, content);
  }
  for (const name of object.required) {
    const member = object.properties.get(name) ?? additional;
    const isMissing = !Object.hasOwn(value, name) || value[name] === undefined;
    if (isMissing && member !== undefined) add(name, member, undefined);
  }
  return count < object.minProperties || count > object.maxProperties ? undefined : `{${text}}`;
}

/**
 * The text of a member, with null in place of what does not fit, or of what is missing and may be
 * null.
 */
export function writeMember(
  shape: Shape,
  value: unknown,
  field: string | number,
  faults: RowFaults,
  depth: number,
): string {
  if (value === undefined && accepts(shape, null, "projected")) return "null";
  const from = faults.noted;
  const text = writeValue(shape, value, faults, depth);
  if (faults.noted !== from) faults.nested(from, field);
  return text ?? faults.nulled(field);
}

/**
 * The alternative to write a container by: the only one of its type, so that just the members that
 * do not fit are lost, else of those that fit the one that keeps the most.
 */
function choose(
  shape: Shape,
  type: number,
  value: unknown,
  depth: number,
  keptCount: (alternative: Alternative) => number,
): Alternative | undefined {
  const candidates = shape.filter((alternative) => (alternative.types & type) !== 0);
  if (candidates.length <= 1) return candidates[0];
  const fitting = candidates.filter((alternative) =>
    accepts([alternative], value, "projected", depth),
  );
  return fitting.reduce<Alternative | undefined>(
    (best, alternative) =>
      best === undefined || keptCount(alternative) > keptCount(best) ? alternative : best,
    undefined,
  );
}
