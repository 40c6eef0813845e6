/**
 * Templates: texts with expressions of Jinja's, as the published schema of manifests uses them.
 * They are trees that this file walks: nothing is compiled to code, a step is counted, and a value
 * is reached by its own name only.
 */

import { invalid } from "../document/invalid.ts";
import { EvaluationError, UndefinedError } from "./evaluation-error.ts";
import {
  addTimes,
  callFunction,
  compare,
  daysOf,
  isMapping,
  isNumber,
  number,
} from "./functions.ts";
import { float, readLiteral } from "./literals.ts";
import { Moment, Span } from "./moment.ts";
import { type Expression, parseExpression } from "./parse-expression.ts";
import { type Piece, splitTemplate, type Token } from "./tokens.ts";
import { type PlainValue, rawText, toText, truth } from "./values.ts";

/** The values that expressions see, by name. */
export type Scope = { readonly [name: string]: PlainValue };

export interface Template {
  /** The text, with each expression in its place. @throws CONNECTOR_INVALID with the place */
  text(scope: Scope): string;
  /** The same, read as Python reads literals: "5" is a number, "None" is null. */
  value(scope: Scope): PlainValue;
  /**
   * Whether the text is true, as a condition: empty, "False", "None" and "0" are not, and what asks
   * something that is not there for a part is not either.
   */
  holds(scope: Scope): boolean;
  /** True when there is nothing to evaluate in it. */
  readonly isPlain: boolean;
}

/** Where a scope keeps the time for the macros: no name of an expression reaches it. */
export const clockName = "now()";

export type Node =
  | { readonly kind: "literal"; readonly text: string }
  | { readonly kind: "expression"; readonly expression: Expression }
  | {
      readonly kind: "if";
      readonly branches: readonly { readonly when: Expression; readonly nodes: readonly Node[] }[];
      readonly otherwise: readonly Node[];
    };

const maxSteps = 20_000;
const maxChars = 262_144;

/** @throws CONNECTOR_INVALID with the place, for what is not of the subset */
export function compileTemplate(template: string, path: string): Template {
  const pieces = splitTemplate(template, path);
  const isPlain = pieces.every((piece) => piece.kind === "literal");
  const nodes = isPlain ? [] : parseNodes(pieces, path);
  const plain = isPlain ? readLiteral(template) : undefined;
  const make = (scope: Scope) => (isPlain ? template : render(nodes, scope, path));
  const told = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      if (error instanceof EvaluationError)
        throw invalid(path, `holds an expression that ${error.message}`);
      throw error;
    }
  };
  const text = (scope: Scope) => told(() => make(scope));
  const value = (scope: Scope) => (isPlain ? plain : readLiteral(text(scope)));
  const holds = (scope: Scope) =>
    told(() => {
      try {
        const made = readLiteral(make(scope));
        return truth(made) && made !== "false";
      } catch (error) {
        if (error instanceof UndefinedError) return false;
        throw error;
      }
    });
  return { text, value, holds, isPlain };
}

/** @throws CONNECTOR_INVALID as {@link compileTemplate} */
export const parseTemplate = (template: string, path: string): Node[] =>
  parseNodes(splitTemplate(template, path), path);

function parseNodes(pieces: readonly Piece[], path: string): Node[] {
  let at = 0;
  let depth = 0;
  const wordOf = (tokens: readonly Token[]) => {
    const [first] = tokens;
    return first?.kind === "name" ? first.text : "";
  };
  const until = (...ends: string[]): Node[] => {
    const nodes: Node[] = [];
    for (; at < pieces.length; at++) {
      const piece = pieces[at];
      if (!piece) break;
      if (piece.kind === "literal") nodes.push(piece);
      else if (piece.kind === "expression")
        nodes.push({ kind: "expression", expression: parseExpression(piece.tokens, path) });
      else {
        const word = wordOf(piece.tokens);
        if (ends.includes(word)) return nodes;
        if (word !== "if")
          throw invalid(
            path,
            `uses the statement ${word || "without a name"}, which is not supported`,
          );
        nodes.push(branch());
      }
    }
    if (ends.length > 0) throw invalid(path, "holds an if without endif");
    return nodes;
  };
  const branch = (): Node => {
    if (++depth > 20) throw invalid(path, "nests more than 20 ifs");
    const branches: { when: Expression; nodes: readonly Node[] }[] = [];
    let otherwise: readonly Node[] = [];
    for (;;) {
      const piece = pieces[at++];
      const tokens = piece && piece.kind !== "literal" ? piece.tokens : [];
      const word = wordOf(tokens);
      if (word === "endif") break;
      if (word === "else") otherwise = until("endif");
      else
        branches.push({
          when: parseExpression(tokens.slice(1), path),
          nodes: until("elif", "else", "endif"),
        });
    }
    at--;
    depth--;
    return { kind: "if", branches, otherwise };
  };
  return until();
}

function render(nodes: readonly Node[], scope: Scope, path: string): string {
  let steps = 0;
  let chars = 0;
  const add = (text: string) => {
    chars += text.length;
    if (chars > maxChars) throw invalid(path, `makes a text of more than ${maxChars} characters`);
    return text;
  };
  const evaluate = (one: Expression): PlainValue => {
    if (++steps > maxSteps) throw invalid(path, `takes more than ${maxSteps} steps`);
    switch (one.kind) {
      case "constant":
        return one.value;
      case "variable":
        return Object.hasOwn(scope, one.name) ? scope[one.name] : undefined;
      case "list":
        return one.items.map(evaluate);
      case "map":
        return Object.fromEntries(
          one.entries.map(([key, value]) => [toText(evaluate(key)), evaluate(value)]),
        );
      case "item":
        return itemOf(evaluate(one.of), evaluate(one.key));
      case "call": {
        const now = Number(scope[clockName] ?? Number.NaN);
        const made = callFunction(one.what, one.name, one.args.map(evaluate), now);
        return typeof made === "string" ? add(made) : made;
      }
      case "test":
        return passes(one.name, evaluate(one.of));
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
        if (Array.isArray(left) && Array.isArray(right)) return [...left, ...right];
        if (isTime(left) || isTime(right)) return addTimes(left, right, 1);
        return calculated(numberOf(left) + numberOf(right), left, right);
      case "-":
        if (isTime(left) || isTime(right)) return addTimes(left, right, -1);
        return calculated(numberOf(left) - numberOf(right), left, right);
      case "*":
        return calculated(numberOf(left) * numberOf(right), left, right);
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
  const write = (some: readonly Node[]): string =>
    some
      .map((node) => {
        if (node.kind === "literal") return add(node.text);
        if (node.kind === "expression") return add(toText(evaluate(node.expression)));
        const taken = node.branches.find(({ when }) => truth(evaluate(when)));
        return write(taken?.nodes ?? node.otherwise);
      })
      .join("");
  try {
    return write(nodes);
  } catch (error) {
    if (error instanceof RangeError) throw invalid(path, "makes more than a value can hold");
    throw error;
  }
}

/** An own property or element; nothing for what is not there, as in Jinja. */
function itemOf(of: PlainValue, key: PlainValue): PlainValue {
  if (Array.isArray(of)) return typeof key === "number" ? of.at(key) : undefined;
  if (typeof of === "string") return typeof key === "number" ? of.at(key) : undefined;
  if (of === undefined) throw new UndefinedError("asks what is not there for a part");
  const name = toText(key);
  if (of instanceof Span) return name === "days" ? daysOf(of) : undefined;
  if (!isMapping(of)) return undefined;
  return Object.hasOwn(of, name) ? (of as Scope)[name] : undefined;
}

const isTime = (value: PlainValue) => value instanceof Moment || value instanceof Span;

/** A number with a fraction stays one, even where nothing is left behind the point. */
const calculated = (made: number, ...from: readonly PlainValue[]): PlainValue =>
  from.some(isFloat) ? float(made) : made;
const isFloat = (value: PlainValue) =>
  typeof value === "number"
    ? !Number.isInteger(value)
    : typeof value === "object" && value !== null && rawText(value) !== undefined;

function numberOf(value: PlainValue): number {
  if (isNumber(value)) return number(value);
  throw new EvaluationError("calculates with what is no number");
}

function divisor(value: PlainValue): number {
  const made = numberOf(value);
  if (made === 0) throw new EvaluationError("divides by zero");
  return made;
}

function isEqual(left: PlainValue, right: PlainValue): boolean {
  if (isNumber(left) && isNumber(right)) return number(left) === number(right);
  if (left instanceof Moment && right instanceof Moment) return left.micros === right.micros;
  if (typeof left !== "object" || typeof right !== "object") return left === right;
  return left === right || toText(left) === toText(right);
}

function isIn(one: PlainValue, all: PlainValue): boolean {
  if (typeof all === "string") return all.includes(toText(one));
  if (Array.isArray(all)) return all.some((each) => isEqual(one, each));
  if (isMapping(all)) return Object.hasOwn(all, toText(one));
  throw new EvaluationError("looks into what is no list");
}

function passes(test: string, value: PlainValue): boolean {
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
  return typeof value === "string" || Array.isArray(value) || isMapping(value);
}
