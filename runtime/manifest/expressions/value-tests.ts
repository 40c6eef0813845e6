/** Tests of values by their names: what follows `is`, and what lists are selected by. */
import { EvaluationError, UndefinedError } from "./evaluation-error.ts";
import { compare, isEqual, isIn, number, present } from "./operands.ts";
import { isMapping, isNumber, type PlainValue, rawText, toText } from "./values.ts";

/** Tests that compare with something. */
export const comparingTests: readonly string[] = [
  ...["in", "eq", "equalto", "sameas", "ne", "divisibleby"],
  ...["gt", "greaterthan", "ge", "lt", "lessthan", "le"],
];
export const testNames: readonly string[] = [
  ...["defined", "undefined", "none", "string", "number", "mapping", "boolean", "integer"],
  ...["float", "iterable", "sequence", "true", "false", "even", "odd", "lower", "upper"],
  ...comparingTests,
];
/** Tests that lists are selected by may be named by their signs. */
const signs: Readonly<Record<string, string>> = {
  ...{ "==": "eq", "!=": "ne", ">": "gt", ">=": "ge", "<": "lt", "<=": "le" },
};
/** The name of a test, or of the sign that stands for one. */
export const testNamed = (name: string): string => signs[name] ?? name;

/** @throws EvaluationError when the values do not fit */
export function passes(test: string, value: PlainValue, [other]: readonly PlainValue[]): boolean {
  switch (test) {
    case "defined":
      return value !== undefined;
    case "undefined":
      return value === undefined;
    case "none":
      return value === null;
    case "number":
      return isNumber(value);
    case "string":
      return typeof value === "string";
    case "boolean":
      return typeof value === "boolean";
    case "true":
    case "false":
      return value === (test === "true");
    case "float":
      return isFloat(value);
    case "integer":
      return isNumber(value) && typeof value !== "boolean" && !isFloat(value);
    case "mapping":
      return isMapping(value);
    case "lower":
      return isCased(toText(value), (text) => text.toLowerCase());
    case "upper":
      return isCased(toText(value), (text) => text.toUpperCase());
    case "in":
      return isIn(value, other);
    case "eq":
    case "equalto":
      return isEqual(value, other);
    case "ne":
      return !isEqual(value, other);
    case "sameas":
      return value === other;
    case "gt":
    case "greaterthan":
      return compare(value, other) > 0;
    case "ge":
      return compare(value, other) >= 0;
    case "lt":
    case "lessthan":
      return compare(value, other) < 0;
    case "le":
      return compare(value, other) <= 0;
    case "even":
    case "odd":
      return (number(value) % 2 === 0) === (test === "even");
    case "divisibleby":
      return number(value) % divisor(other) === 0;
    default:
      // A value that is not there has no items: it is a list of none.
      return (
        value === undefined || typeof value === "string" || Array.isArray(value) || isMapping(value)
      );
  }
}

/** It has letters, and all of them are of that case. */
export const isCased = (text: string, cased: (text: string) => string) =>
  text === cased(text) && text.toLowerCase() !== text.toUpperCase();

export const isFloat = (value: PlainValue) =>
  typeof value === "number"
    ? !Number.isInteger(value)
    : typeof value === "object" && value !== null && rawText(value) !== undefined;

/** A number that is not zero. @throws EvaluationError */
function divisor(value: PlainValue): number {
  const made = number(value);
  if (made === 0) throw new EvaluationError("divides by zero");
  return made;
}

/** The receiver of a method that it has not. */
export function without(value: PlainValue): UndefinedError {
  present(value);
  return new UndefinedError("calls what a value does not have");
}
