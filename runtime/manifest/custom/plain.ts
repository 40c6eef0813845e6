/** Values of an author's own code, as the interpreter has them: plain data, nothing else. */
import { type PlainValue, rawText } from "../expressions/values.ts";
import type { PlainRecord } from "../records/selector.ts";
import type { CustomPart } from "./code.ts";

/** As deep as a manifest may be, and the answers of providers are. */
const maxDepth = 64;

/** @throws CONNECTOR_PROTOCOL for what is no data */
export function toPlain(part: CustomPart, value: unknown, depth = 0): PlainValue {
  if (depth > maxDepth) throw part.wrong(`gives a value nested deeper than ${maxDepth} levels`);
  switch (typeof value) {
    case "undefined":
      return null;
    case "string":
    case "boolean":
    case "bigint":
      return value;
    case "number":
      if (Number.isFinite(value)) return value;
      throw part.wrong(`gives ${value}, which is no number of JSON`);
    case "object":
      break;
    default:
      throw part.wrong(`gives a ${typeof value} where data is expected`);
  }
  if (value === null || rawText(value) !== undefined) return value as PlainValue;
  if (Array.isArray(value)) return value.map((one) => toPlain(part, one, depth + 1));
  if (!isPlainObject(value)) throw part.wrong("gives an object of a class, and no plain one");
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, toPlain(part, one, depth + 1)]),
  );
}

/** @throws CONNECTOR_PROTOCOL for what is no record */
export function toRecord(part: CustomPart, value: unknown): PlainRecord {
  if (!isPlainObject(value)) throw part.wrong("gives what is no record: it must be a plain object");
  return toPlain(part, value) as PlainRecord;
}

/** Each of what it gives, one after another. @throws CONNECTOR_PROTOCOL for what is no list */
export function* itemsOf(part: CustomPart, given: unknown): Generator<unknown> {
  const isList = typeof given === "object" && given !== null && Symbol.iterator in given;
  if (!isList) throw part.wrong("gives what is no list");
  const items = part.run(() => (given as Iterable<unknown>)[Symbol.iterator]());
  for (
    let next = part.run(() => items.next());
    next.done !== true;
    next = part.run(() => items.next())
  )
    yield next.value;
}

function isPlainObject(value: unknown): value is object {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}
