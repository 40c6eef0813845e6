/**
 * Values of expressions: trees that are walked, a step counted, a value reached by its own name
 * only.
 */
import { invalid } from "../document/invalid.ts";
import { calculate } from "./arithmetic.ts";
import { EvaluationError, UndefinedError } from "./evaluation-error.ts";
import type { Expression } from "./expression.ts";
import { callFunction } from "./functions.ts";
import { itemOf, sliceOf } from "./items.ts";
import { compare, isEqual, isIn, maxChars, numeric } from "./operands.ts";
import { isFloat, passes } from "./value-tests.ts";
import { Namespace, type PlainValue, toText, truth, tupleOf } from "./values.ts";

/** The values that expressions see, by name. */
export type Scope = { readonly [name: string]: PlainValue };

/** Where a scope keeps the time for the macros: no name of an expression reaches it. */
export const clockName = "now()";

const maxSteps = 20_000;
/** How deep macros of a template may call one another. */
const maxCalls = 20;

/** The text that a macro of a template writes. */
export type Macro = (args: readonly PlainValue[], named: ReadonlyMap<string, PlainValue>) => string;

/** The context of rendering a template once. */
export interface Evaluator {
  /** @throws EvaluationError · CONNECTOR_INVALID beyond the steps that a template may take */
  evaluate(one: Expression): PlainValue;
  /** The same, with further names; those that are set there are gone behind it. */
  within(names: ReadonlyMap<string, PlainValue>): Evaluator;
  /** Gives a name to a value. */
  set(name: string, value: PlainValue): void;
  /** Gives a name in a namespace to a value. @throws EvaluationError for what is none */
  put(namespace: string, name: string, value: PlainValue): void;
  /** Gives a name to a macro. */
  define(name: string, macro: Macro): void;
  /** Counts what is written. @throws CONNECTOR_INVALID beyond what a text may have */
  add(text: string): string;
}

export function createEvaluator(scope: Scope, path: string): Evaluator {
  let steps = 0;
  let chars = 0;
  let calls = 0;
  const macros = new Map<string, Macro>();
  const add = (text: string) => {
    chars += text.length;
    if (chars > maxChars) throw invalid(path, `makes a text of more than ${maxChars} characters`);
    return text;
  };
  const step = (taken = 1) => {
    steps += taken;
    if (steps > maxSteps) throw invalid(path, `takes more than ${maxSteps} steps`);
  };
  /** Long values are more work than others. */
  const weigh = (value: PlainValue) => {
    if (typeof value === "string") step(value.length >> 12);
    else if (Array.isArray(value)) step(value.length >> 6);
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
        case "tuple":
          return tupleOf(one.items.map(evaluate));
        case "map":
          return Object.fromEntries(
            one.entries.map(([key, value]) => [toText(evaluate(key)), evaluate(value)]),
          );
        case "item":
          return itemOf(evaluate(one.of), evaluate(one.key));
        case "slice": {
          const of = evaluate(one.of);
          weigh(of);
          return sliceOf(of, ...one.bounds.map((bound) => bound && evaluate(bound)));
        }
        case "call": {
          const now = Number(scope[clockName] ?? Number.NaN);
          const args = one.args.map(evaluate);
          for (const arg of args) weigh(arg);
          const made = callFunction(one.what, one.name, args, now);
          weigh(made);
          return typeof made === "string" ? add(made) : made;
        }
        case "invoke": {
          const macro = macros.get(one.name);
          if (!macro) throw new UndefinedError("calls what is not there");
          const args = one.args.map(evaluate);
          const named = new Map(one.named.map(([name, value]) => [name, evaluate(value)] as const));
          if (++calls > maxCalls)
            throw invalid(path, `calls macros more than ${maxCalls} levels deep`);
          const made = macro(args, named);
          calls--;
          return made;
        }
        case "test":
          return passes(one.name, evaluate(one.of), one.args.map(evaluate));
        case "not":
          return !truth(evaluate(one.of));
        case "minus":
          return negative(evaluate(one.of));
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
      weigh(left);
      weigh(right);
      switch (operator) {
        case "==":
          return isEqual(left, right);
        case "!=":
          return !isEqual(left, right);
        case "in":
          return isIn(left, right);
        case "<":
          return compare(left, right) < 0;
        case ">":
          return compare(left, right) > 0;
        case "<=":
          return compare(left, right) <= 0;
        case ">=":
          return compare(left, right) >= 0;
        case "~":
          return add(toText(left) + toText(right));
        default: {
          const made = calculate(operator, left, right);
          if (Array.isArray(made)) step(made.length);
          return typeof made === "string" ? add(made) : made;
        }
      }
    };

    return {
      ...{ evaluate, add },
      within: (names) => open(new Map([...locals, ...names])),
      set: (name, value) => void locals.set(name, value),
      put(namespace, name, value) {
        const found = locals.get(namespace);
        if (!(found instanceof Namespace))
          throw new EvaluationError("sets a part of what is no namespace");
        found.values.set(name, value);
      },
      define: (name, macro) => void macros.set(name, macro),
    };
  };
  return open(new Map());
}

function negative(value: PlainValue): PlainValue {
  const size = numeric(value);
  return isFloat(value) ? calculate("*", value, -1) : -size;
}
