/**
 * Values of expressions: trees that are walked, a step counted, a value reached by its own name
 * only.
 */
import { invalid } from "../document/invalid.ts";
import { EvaluationError, UndefinedError } from "./evaluation-error.ts";
import type { Expression } from "./expression.ts";
import { callFunction } from "./functions.ts";
import { float } from "./literals.ts";
import { type ClockParts, day, Moment, partsOf, Span } from "./moment.ts";
import { addTimes, compare } from "./operands.ts";
import { divisor, isEqual, isFloat, isIn, numberOf, passes } from "./value-tests.ts";
import { isMapping, type PlainValue, toText, truth } from "./values.ts";

/** The values that expressions see, by name. */
export type Scope = { readonly [name: string]: PlainValue };

/** Where a scope keeps the time for the macros: no name of an expression reaches it. */
export const clockName = "now()";

const maxSteps = 20_000;
const maxChars = 262_144;

/** The context of rendering a template once. */
export interface Evaluator {
  /** @throws EvaluationError · CONNECTOR_INVALID beyond the steps that a template may take */
  evaluate(one: Expression): PlainValue;
  /** The same, with further names. */
  within(names: ReadonlyMap<string, PlainValue>): Evaluator;
  /** Gives a name to a value. */
  set(name: string, value: PlainValue): void;
  /** Counts what is written. @throws CONNECTOR_INVALID beyond what a text may have */
  add(text: string): string;
}

export function createEvaluator(scope: Scope, path: string): Evaluator {
  let steps = 0;
  let chars = 0;
  const add = (text: string) => {
    chars += text.length;
    if (chars > maxChars) throw invalid(path, `makes a text of more than ${maxChars} characters`);
    return text;
  };
  const step = (taken = 1) => {
    steps += taken;
    if (steps > maxSteps) throw invalid(path, `takes more than ${maxSteps} steps`);
  };
  const count = <T extends readonly PlainValue[]>(list: T): T => {
    step(list.length);
    return list;
  };
  const open = (locals: Map<string, PlainValue>): Evaluator => {
    const evaluate = (one: Expression): PlainValue => {
      step();
      switch (one.kind) {
        case "constant":
          return one.value;
        case "variable":
          if (locals.has(one.name)) return locals.get(one.name);
          return Object.hasOwn(scope, one.name) ? scope[one.name] : undefined;
        case "list":
          return one.items.map(evaluate);
        case "map":
          return Object.fromEntries(
            one.entries.map(([key, value]) => [toText(evaluate(key)), evaluate(value)]),
          );
        case "item":
          return itemOf(evaluate(one.of), evaluate(one.key));
        case "slice":
          return sliceOf(evaluate(one.of), ...one.bounds.map((bound) => bound && evaluate(bound)));
        case "call": {
          const now = Number(scope[clockName] ?? Number.NaN);
          const made = callFunction(one.what, one.name, one.args.map(evaluate), now);
          return typeof made === "string" ? add(made) : made;
        }
        case "test":
          return passes(one.name, evaluate(one.of), one.args.map(evaluate));
        case "not":
          return !truth(evaluate(one.of));
        case "minus":
          return -numberOf(evaluate(one.of));
        case "choice":
          return evaluate(truth(evaluate(one.condition)) ? one.yes : one.no);
        case "binary":
          return binary(one.operator, one.left, one.right);
      }
    };
    const binary = (operator: string, first: Expression, second: Expression): PlainValue => {
      const left = evaluate(first);
      if (operator === "and") return truth(left) ? evaluate(second) : left;
      if (operator === "or") return truth(left) ? left : evaluate(second);
      const right = evaluate(second);
      switch (operator) {
        case "==":
          return isEqual(left, right);
        case "!=":
          return !isEqual(left, right);
        case "in":
          return isIn(left, right);
        case "~":
          return add(toText(left) + toText(right));
        case "+":
          if (typeof left === "string" && typeof right === "string") return add(left + right);
          if (Array.isArray(left) && Array.isArray(right)) return count([...left, ...right]);
          if (isTime(left) || isTime(right)) return addTimes(left, right, 1);
          return calculated(numberOf(left) + numberOf(right), left, right);
        case "-":
          if (isTime(left) || isTime(right)) return addTimes(left, right, -1);
          return calculated(numberOf(left) - numberOf(right), left, right);
        case "*":
          return calculated(numberOf(left) * numberOf(right), left, right);
        case "**":
          return calculated(numberOf(left) ** numberOf(right), left, right);
        case "/":
          return float(numberOf(left) / divisor(right));
        case "//":
          return calculated(Math.floor(numberOf(left) / divisor(right)), left, right);
        case "%": {
          const times = Math.floor(numberOf(left) / divisor(right));
          return calculated(numberOf(left) - divisor(right) * times, left, right);
        }
        default: {
          const order = compare(left, right);
          if (operator === "<") return order < 0;
          if (operator === ">") return order > 0;
          return operator === "<=" ? order <= 0 : order >= 0;
        }
      }
    };

    return {
      ...{ evaluate, add },
      within: (names) => open(new Map([...locals, ...names])),
      set: (name, value) => void locals.set(name, value),
    };
  };
  return open(new Map());
}

/** An own property or element; nothing for what is not there, as in Jinja. */
function itemOf(of: PlainValue, key: PlainValue): PlainValue {
  if (Array.isArray(of)) return typeof key === "number" ? of.at(key) : undefined;
  if (typeof of === "string") return typeof key === "number" ? of.at(key) : undefined;
  if (of === undefined) throw new UndefinedError("asks what is not there for a part");
  const name = toText(key);
  if (of instanceof Span) return name === "days" ? Number(of.micros / day) : undefined;
  if (of instanceof Moment) {
    const part = Object.hasOwn(clockParts, name) ? clockParts[name] : undefined;
    return part && partsOf(of)[part];
  }
  if (!isMapping(of)) return undefined;
  return Object.hasOwn(of, name) ? (of as Scope)[name] : undefined;
}

const isTime = (value: PlainValue) => value instanceof Moment || value instanceof Span;

/** A number with a fraction stays one, even where nothing is left behind the point. */
const calculated = (made: number, ...from: readonly PlainValue[]): PlainValue =>
  from.some(isFloat) ? float(made) : made;
/** Attributes of dates, by Python's names. */
const clockParts: Readonly<Record<string, keyof ClockParts>> = {
  ...{ year: "year", month: "month", day: "day" },
  ...{ hour: "hour", minute: "minute", second: "second", microsecond: "micro" },
};

/** As Python's slices; a step backwards turns the order round. */
function sliceOf(
  of: PlainValue,
  from?: PlainValue,
  to?: PlainValue,
  step?: PlainValue,
): PlainValue {
  const list = typeof of === "string" || Array.isArray(of) ? of : undefined;
  if (list === undefined) throw new EvaluationError("takes a part of what is no list");
  const by = step === undefined || step === null ? 1 : numberOf(step);
  if (!Number.isInteger(by) || by === 0) throw new EvaluationError("takes a part in steps of none");
  const at = (bound: PlainValue, usual: number) => {
    if (bound === undefined || bound === null) return usual;
    const given = numberOf(bound);
    const index = given < 0 ? given + list.length : given;
    return by > 0
      ? Math.max(0, Math.min(index, list.length))
      : Math.max(-1, Math.min(index, list.length - 1));
  };
  const [first, last] =
    by > 0 ? [at(from, 0), at(to, list.length)] : [at(from, list.length - 1), at(to, -1)];
  const found: PlainValue[] = [];
  for (let index = first; by > 0 ? index < last : index > last; index += by)
    found.push(list[index]);
  return typeof of === "string" ? found.join("") : found;
}
