/** The operands of operators and functions: numbers, lists, and what has an order. */
import { EvaluationError } from "./evaluation-error.ts";
import { addSpan, Moment, Span } from "./moment.ts";
import { isMapping, isNumber, type PlainValue, rawText } from "./values.ts";

export const number = (value: PlainValue): number => {
  const raw = typeof value === "object" && value !== null ? rawText(value) : undefined;
  const made =
    raw !== undefined
      ? Number(raw)
      : typeof value === "string"
        ? Number(value.trim() || Number.NaN)
        : Number(value);
  if (Number.isNaN(made)) throw new EvaluationError("makes a number of what is none");
  return made;
};
export const items = (value: PlainValue): readonly PlainValue[] => {
  if (Array.isArray(value)) return value;
  if (typeof value === "string") return [...value];
  if (isMapping(value)) return Object.keys(value);
  throw new EvaluationError("takes what is no list for one");
};
/** Numbers by size, texts by their characters, moments by time. */
export function compare(left: PlainValue, right: PlainValue): number {
  if (typeof left === "string" && typeof right === "string")
    return left < right ? -1 : left > right ? 1 : 0;
  if (isNumber(left) && isNumber(right)) return number(left) - number(right);
  const isTime =
    (left instanceof Moment && right instanceof Moment && left.isDate === right.isDate) ||
    (left instanceof Span && right instanceof Span);
  if (isTime) return left.micros < right.micros ? -1 : left.micros > right.micros ? 1 : 0;
  throw new EvaluationError("compares what has no order");
}

/** Moments and lengths of time, added and taken away. */
export function addTimes(left: PlainValue, right: PlainValue, sign: 1 | -1): PlainValue {
  const made =
    left instanceof Moment && right instanceof Span
      ? addSpan(left, right, sign)
      : left instanceof Span && right instanceof Moment && sign === 1
        ? addSpan(right, left, 1)
        : left instanceof Moment && right instanceof Moment && sign === -1
          ? new Span(left.micros - right.micros)
          : left instanceof Span && right instanceof Span
            ? new Span(left.micros + BigInt(sign) * right.micros, left.months + sign * right.months)
            : undefined;
  if (!made) throw new EvaluationError("calculates with what is no number, or leaves the calendar");
  return made;
}
