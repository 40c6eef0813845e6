/** Tests of values by their names: what follows `is`, and what lists are selected by. */
import { EvaluationError } from "./evaluation-error.ts";
import { Moment } from "./moment.ts";
import { number } from "./operands.ts";
import { isMapping, isNumber, type PlainValue, rawText, toText } from "./values.ts";

/** Tests that compare with something. */
export const comparingTests: readonly string[] = [
  ...["in", "eq", "equalto", "sameas", "ne", "divisibleby"],
];
export const testNames: readonly string[] = [
  ...["defined", "undefined", "none", "string", "number", "mapping", "boolean", "integer"],
  ...["float", "iterable", "sequence", "true", "false", "even", "odd", ...comparingTests],
];

/** @throws EvaluationError when the values do not fit */
export function passes(test: string, value: PlainValue, [other]: readonly PlainValue[]): boolean {
  if (test === "defined") return value !== undefined;
  if (test === "undefined") return value === undefined;
  if (test === "none") return value === null;
  if (test === "number") return isNumber(value);
  if (test === "string") return typeof value === "string";
  if (test === "boolean") return typeof value === "boolean";
  if (test === "true" || test === "false") return value === (test === "true");
  if (test === "float") return isFloat(value);
  if (test === "integer") return isNumber(value) && typeof value !== "boolean" && !isFloat(value);
  if (test === "mapping") return isMapping(value);
  if (test === "in") return isIn(value, other);
  if (["eq", "equalto", "sameas"].includes(test)) return isEqual(value, other);
  if (test === "ne") return !isEqual(value, other);
  if (test === "even" || test === "odd") return (numberOf(value) % 2 === 0) === (test === "even");
  if (test === "divisibleby") return numberOf(value) % divisor(other) === 0;
  return typeof value === "string" || Array.isArray(value) || isMapping(value);
}

export const isFloat = (value: PlainValue) =>
  typeof value === "number"
    ? !Number.isInteger(value)
    : typeof value === "object" && value !== null && rawText(value) !== undefined;

/** @throws EvaluationError for what is no number */
export function numberOf(value: PlainValue): number {
  if (isNumber(value)) return number(value);
  throw new EvaluationError("calculates with what is no number");
}

/** A number that is not zero. @throws EvaluationError */
export function divisor(value: PlainValue): number {
  const made = numberOf(value);
  if (made === 0) throw new EvaluationError("divides by zero");
  return made;
}

/** As Python compares them. */
export function isEqual(left: PlainValue, right: PlainValue): boolean {
  if (isNumber(left) && isNumber(right)) return number(left) === number(right);
  if (left instanceof Moment && right instanceof Moment) return left.micros === right.micros;
  if (typeof left !== "object" || typeof right !== "object") return left === right;
  return left === right || toText(left) === toText(right);
}

/** @throws EvaluationError for what holds nothing */
export function isIn(one: PlainValue, all: PlainValue): boolean {
  if (typeof all === "string") return all.includes(toText(one));
  if (Array.isArray(all)) return all.some((each) => isEqual(one, each));
  if (isMapping(all)) return Object.hasOwn(all, toText(one));
  throw new EvaluationError("looks into what is no list");
}
