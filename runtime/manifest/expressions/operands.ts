/** The operands of operators and functions: numbers, lists, and what has an order. */
import { EvaluationError, UndefinedError } from "./evaluation-error.ts";
import { Moment, Span } from "./moment.ts";
import { isMapping, isNumber, type PlainValue, rawText, Tuple } from "./values.ts";

/** The characters that a template may write, and that its functions may make. */
export const maxChars = 262_144;

/** @throws UndefinedError for what is not there, whatever is to be done with it */
export function present(value: PlainValue): void {
  if (value === undefined) throw new UndefinedError("asks what is not there for a part");
}

/** @throws EvaluationError for what is no number */
export const number = (value: PlainValue): number => Number(numeric(value));

/** As it is, so that long whole numbers stay exact. @throws EvaluationError */
export function numeric(value: PlainValue): number | bigint {
  present(value);
  if (typeof value === "bigint" || typeof value === "number") return value;
  if (isNumber(value))
    return typeof value === "object" ? Number(rawText(value ?? {})) : Number(value);
  throw new EvaluationError("calculates with what is no number");
}

/** The items of a list, a tuple, a text or a mapping; what is not there has none. */
export const items = (value: PlainValue): readonly PlainValue[] => {
  if (value === undefined) return [];
  if (Array.isArray(value)) return value;
  if (typeof value === "string") return [...value];
  if (isMapping(value)) return Object.keys(value);
  throw new EvaluationError("takes what is no list for one");
};

/** Numbers by size, texts by their characters, moments by time, lists by their items. */
export function compare(left: PlainValue, right: PlainValue): number {
  present(left);
  present(right);
  if (typeof left === "string" && typeof right === "string")
    return left < right ? -1 : left > right ? 1 : 0;
  if (isNumber(left) && isNumber(right)) {
    const [one, other] = [numeric(left), numeric(right)];
    return one < other ? -1 : one > other ? 1 : 0;
  }
  const isTime =
    (left instanceof Moment && right instanceof Moment && left.isDate === right.isDate) ||
    (left instanceof Span && right instanceof Span && left.months === 0 && right.months === 0);
  if (isTime) return left.micros < right.micros ? -1 : left.micros > right.micros ? 1 : 0;
  if (Array.isArray(left) && Array.isArray(right) && isTuple(left) === isTuple(right)) {
    const at = left.findIndex((one, index) => index >= right.length || !isEqual(one, right[index]));
    if (at === -1 || at >= right.length) return left.length - right.length;
    return compare(left[at], right[at]);
  }
  throw new EvaluationError("compares what has no order");
}

/** As Python compares them. */
export function isEqual(left: PlainValue, right: PlainValue): boolean {
  if (isNumber(left) && isNumber(right)) return compare(left, right) === 0;
  if (left instanceof Moment && right instanceof Moment)
    return left.micros === right.micros && left.isDate === right.isDate;
  if (left instanceof Span && right instanceof Span)
    return left.micros === right.micros && left.months === right.months;
  if (Array.isArray(left) && Array.isArray(right))
    return (
      isTuple(left) === isTuple(right) &&
      left.length === right.length &&
      left.every((one, index) => isEqual(one, right[index]))
    );
  if (isMapping(left) && isMapping(right)) {
    const names = Object.keys(left);
    return (
      names.length === Object.keys(right).length &&
      names.every((name) => Object.hasOwn(right, name) && isEqual(left[name], right[name]))
    );
  }
  return left === right;
}

const isTuple = (value: PlainValue) => value instanceof Tuple;

/** @throws EvaluationError for what holds nothing, and for what no text can hold */
export function isIn(one: PlainValue, all: PlainValue): boolean {
  if (all === undefined) return false;
  if (typeof all === "string") {
    if (typeof one === "string") return all.includes(one);
    throw new EvaluationError("looks for what is no text in one");
  }
  if (Array.isArray(all)) return all.some((each) => isEqual(one, each));
  if (isMapping(all)) return typeof one === "string" && Object.hasOwn(all, one);
  throw new EvaluationError("looks into what is no list");
}

/** Characters as Python counts them: one that is two here is one. */
export const charactersOf = (text: string): string | readonly string[] =>
  /[\ud800-\udfff]/.test(text) ? [...text] : text;
