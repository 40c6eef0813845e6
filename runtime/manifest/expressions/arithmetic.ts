/** Operators that calculate: as Python's, exact with whole numbers, bounded in what they make. */
import { EvaluationError } from "./evaluation-error.ts";
import { float, whole } from "./literals.ts";
import { addSpan, Moment, Span } from "./moment.ts";
import { maxChars, numeric, present } from "./operands.ts";
import { printed } from "./text-formats.ts";
import { isFloat } from "./value-tests.ts";
import { isNumber, type PlainValue, Tuple, tupleOf } from "./values.ts";

/** More bits than this are no number that anybody counts with. */
const maxBits = 4_096;
/** Items that repeating a list may make. */
const maxItems = 20_000;

/** @throws EvaluationError when the values do not fit */
export function calculate(operator: string, left: PlainValue, right: PlainValue): PlainValue {
  if (operator === "%" && typeof left === "string") return printed(left, right);
  present(left);
  present(right);
  if (isTime(left) || isTime(right)) return ofTimes(operator, left, right);
  if (operator === "+" && typeof left === "string" && typeof right === "string")
    return left + right;
  if (operator === "+" && Array.isArray(left) && Array.isArray(right)) {
    const isTuple = left instanceof Tuple;
    if (isTuple !== right instanceof Tuple)
      throw new EvaluationError("adds a list and what is another kind of list");
    return isTuple ? tupleOf([...left, ...right]) : [...left, ...right];
  }
  if (operator === "*" && (isSequence(left) || isSequence(right)))
    return isSequence(left) ? repeated(left, right) : repeated(right, left);
  return ofNumbers(operator, left, right);
}

const isTime = (value: PlainValue) => value instanceof Moment || value instanceof Span;
const isSequence = (value: PlainValue): value is string | readonly PlainValue[] =>
  typeof value === "string" || Array.isArray(value);

function repeated(of: PlainValue, by: PlainValue): PlainValue {
  if (!isNumber(by) || isFloat(by) || !isSequence(of))
    throw new EvaluationError("repeats something by what is no whole number");
  const times = Math.max(0, Number(numeric(by)));
  const most = typeof of === "string" ? maxChars : maxItems;
  if (of.length * times > most) throw new EvaluationError("repeats something too often");
  if (typeof of === "string") return of.repeat(times);
  const made = Array.from({ length: times }, () => [...of]).flat() as PlainValue[];
  return of instanceof Tuple ? tupleOf(made) : made;
}

function ofNumbers(operator: string, left: PlainValue, right: PlainValue): PlainValue {
  const [one, other] = [numeric(left), numeric(right)];
  const isZero = Number(other) === 0;
  if (isZero && ["/", "//", "%"].includes(operator)) throw new EvaluationError("divides by zero");
  if (operator === "/") return float(Number(one) / Number(other));
  const areWhole = !isFloat(left) && !isFloat(right);
  if (areWhole && !(operator === "**" && other < 0)) {
    const plain = ofFloats(operator, Number(one), Number(other));
    const isSafe = typeof one === "number" && typeof other === "number";
    if (isSafe && Number.isSafeInteger(plain)) return plain;
    return ofWhole(operator, BigInt(one), BigInt(other));
  }
  const made = ofFloats(operator, Number(one), Number(other));
  if (!Number.isFinite(made)) throw new EvaluationError("makes a number that is too large");
  return float(made);
}

function ofFloats(operator: string, one: number, other: number): number {
  switch (operator) {
    case "+":
      return one + other;
    case "-":
      return one - other;
    case "*":
      return one * other;
    case "**":
      return one ** other;
    case "//":
      return Math.floor(one / other);
    default:
      return one - other * Math.floor(one / other);
  }
}

function ofWhole(operator: string, one: bigint, other: bigint): PlainValue {
  const bits = one.toString(16).length * 4;
  if (operator === "**" && (other > BigInt(maxBits) || BigInt(bits) * other > BigInt(maxBits)))
    throw new EvaluationError("makes a number that is too large");
  if (bits > maxBits) throw new EvaluationError("makes a number that is too large");
  const rest = () => ((one % other) + other) % other;
  switch (operator) {
    case "+":
      return whole(one + other);
    case "-":
      return whole(one - other);
    case "*":
      return whole(one * other);
    case "**":
      return whole(one ** other);
    case "//":
      return whole((one - rest()) / other);
    default:
      return whole(rest());
  }
}

/** Moments and lengths of time, added and taken away; lengths multiplied and divided. */
function ofTimes(operator: string, left: PlainValue, right: PlainValue): PlainValue {
  const sign = operator === "+" ? 1 : operator === "-" ? -1 : undefined;
  const made =
    sign === undefined
      ? scaled(operator, left, right)
      : left instanceof Moment && right instanceof Span
        ? addSpan(left, right, sign)
        : left instanceof Span && right instanceof Moment && sign === 1
          ? addSpan(right, left, 1)
          : left instanceof Moment && right instanceof Moment && sign === -1
            ? left.isDate === right.isDate
              ? new Span(left.micros - right.micros)
              : undefined
            : left instanceof Span && right instanceof Span
              ? new Span(
                  left.micros + BigInt(sign) * right.micros,
                  left.months + sign * right.months,
                )
              : undefined;
  if (made === undefined)
    throw new EvaluationError("calculates with what is no number, or leaves the calendar");
  return made;
}

function scaled(operator: string, left: PlainValue, right: PlainValue): PlainValue {
  const [of, by] = left instanceof Span ? [left, right] : [right, left];
  if (!(of instanceof Span) || of.months !== 0) return undefined;
  if (by instanceof Span && by.months === 0 && left instanceof Span) {
    if (by.micros === 0n) throw new EvaluationError("divides by zero");
    if (operator === "/") return float(Number(of.micros) / Number(by.micros));
    return undefined;
  }
  if (!isNumber(by)) return undefined;
  const factor = Number(numeric(by));
  if (operator === "*") return new Span(BigInt(Math.round(Number(of.micros) * factor)));
  if (operator !== "/" || !(left instanceof Span)) return undefined;
  if (factor === 0) throw new EvaluationError("divides by zero");
  return new Span(BigInt(Math.round(Number(of.micros) / factor)));
}
