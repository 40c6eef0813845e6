/**
 * Expressions as trees. What the subset has not is refused by name, when the manifest is loaded.
 */

import { invalid, Unsupported } from "../document/invalid.ts";
import { type Expression, variableNames } from "./expression.ts";
import { argumentIndex, type CallKind, callNames } from "./functions.ts";
import type { Token } from "./tokens.ts";
import { comparingTests, testNames } from "./value-tests.ts";

const constants: ReadonlyMap<string, boolean | null> = new Map([
  ...["true", "True"].map((name) => [name, true] as const),
  ...["false", "False"].map((name) => [name, false] as const),
  ...["none", "None"].map((name) => [name, null] as const),
]);
const comparisons = ["==", "!=", "<", ">", "<=", ">="];
const maxDepth = 50;
/** An argument that is left out. */
const nothing: Expression = { kind: "constant", value: undefined };

/** @param locals names that statements have given @throws CONNECTOR_INVALID with the place */
export function parseExpression(
  tokens: readonly Token[],
  path: string,
  locals: ReadonlySet<string> = new Set(),
): Expression {
  let at = 0;
  let depth = 0;
  const fault = (problem: string) => invalid(path, `holds an expression that ${problem}`);
  const peek = (text: string) => {
    const token = tokens[at];
    return token !== undefined && "text" in token && token.text === text;
  };
  const take = (...texts: string[]): string | undefined => {
    const found = texts.find(peek);
    if (found !== undefined) at++;
    return found;
  };
  const expect = (text: string) => {
    if (!take(text)) throw fault(`lacks "${text}"`);
  };
  const name = (): string => {
    const token = tokens[at++];
    if (token?.kind !== "name") throw fault("lacks a name");
    return token.text;
  };
  const known = (kind: string, one: string, names: readonly string[]) => {
    if (names.includes(one)) return one;
    throw new Unsupported(
      path,
      `holds an expression that uses the ${kind} ${one}, which is not supported`,
    );
  };

  const choice = (): Expression => {
    if (++depth > maxDepth) throw fault(`is nested deeper than ${maxDepth} levels`);
    const yes = either();
    let result = yes;
    if (take("if")) {
      const condition = either();
      const no: Expression = take("else") ? choice() : { kind: "constant", value: "" };
      result = { kind: "choice", condition, yes, no };
    }
    depth--;
    return result;
  };
  const chain = (next: () => Expression, ...operators: string[]): Expression => {
    let left = next();
    for (let operator = take(...operators); operator; operator = take(...operators))
      left = { kind: "binary", operator, left, right: next() };
    return left;
  };
  const either = () => chain(both, "or");
  const both = () => chain(negation, "and");
  const negation = (): Expression => {
    if (!take("not")) return comparison();
    if (++depth > maxDepth) throw fault(`is nested deeper than ${maxDepth} levels`);
    const of = negation();
    depth--;
    return { kind: "not", of };
  };
  const comparison = (): Expression => {
    let left = sum();
    let all: Expression | undefined;
    for (;;) {
      const isNot = peek("not") && isWord(tokens[at + 1], "in");
      if (isNot) at++;
      const operator = take(...comparisons, "in");
      if (!operator) return all ?? left;
      const right = sum();
      const plain: Expression = { kind: "binary", operator, left, right };
      const one: Expression = isNot ? { kind: "not", of: plain } : plain;
      // As in Python, "a < b < c" is "a < b and b < c".
      all = all ? { kind: "binary", operator: "and", left: all, right: one } : one;
      left = right;
    }
  };
  const sum = () => chain(product, "+", "-", "~");
  const product = () => chain(power, "*", "//", "/", "%");
  /** A sign binds more tightly than filters and powers: `-3 | abs` is 3, and `-2 ** 2` is 4. */
  const power = () => chain(() => filtered(signed()), "**");
  const signed = (): Expression => {
    const sign = take("+", "-");
    if (!sign) return reached(primary());
    if (++depth > maxDepth) throw fault(`is nested deeper than ${maxDepth} levels`);
    const of = signed();
    depth--;
    return reached(sign === "-" ? { kind: "minus", of } : of);
  };
  const filtered = (start: Expression): Expression => {
    let value = start;
    for (;;) {
      if (take("|")) {
        const filter = known("filter", name(), callNames.filter);
        const args = take("(") ? callArguments("filter", filter, [value]) : [value];
        value = { kind: "call", what: "filter", name: filter, args };
      } else if (take("is")) {
        const isNot = take("not") !== undefined;
        const called = known("test", name(), testNames);
        const isComparing = comparingTests.includes(called);
        const args = isComparing ? [take("(") ? (list(")")[0] ?? nothing) : primary()] : [];
        const test: Expression = { kind: "test", name: called, of: value, args };
        value = isNot ? { kind: "not", of: test } : test;
      } else return value;
    }
  };
  const reached = (start: Expression): Expression => {
    let value = start;
    for (;;) {
      if (take(".")) {
        const token = tokens[at];
        if (token?.kind === "number") at++;
        const key = token?.kind === "number" ? String(token.value) : name();
        if (take("(")) {
          const method = known("method", key, callNames.method);
          const args = callArguments("method", method, [value]);
          value = { kind: "call", what: "method", name: method, args };
        } else value = { kind: "item", of: value, key: keyOf(key) };
      } else if (take("[")) {
        const key = peek(":") ? undefined : choice();
        if (!key || peek(":")) {
          value = slice(value, key);
          continue;
        }
        expect("]");
        const isText = key.kind === "constant" && typeof key.value === "string";
        value = { kind: "item", of: value, key: isText ? keyOf(String(key.value)) : key };
      } else return value;
    }
  };
  const slice = (of: Expression, from: Expression | undefined): Expression => {
    const bounds: (Expression | undefined)[] = [from];
    while (bounds.length < 3 && take(":"))
      bounds.push(peek(":") || peek("]") ? undefined : choice());
    expect("]");
    return { kind: "slice", of, bounds };
  };
  /** Objects have no insides here; who reaches for them is told so. */
  const keyOf = (key: string): Expression => {
    if (key.startsWith("__") || key === "constructor" || key === "prototype")
      throw fault(`reaches for "${key}"`);
    return { kind: "constant", value: /^\d+$/.test(key) ? Number(key) : key };
  };
  const list = (end: string): Expression[] => {
    const items: Expression[] = [];
    while (!take(end)) {
      items.push(choice());
      if (!peek(end)) expect(",");
    }
    return items;
  };
  /** Arguments by their place, or by the name that the function gives the place. */
  const callArguments = (what: CallKind, called: string, given: Expression[]): Expression[] => {
    const args = [...given];
    while (!take(")")) {
      const token = tokens[at];
      if (token?.kind === "name" && isWord(tokens[at + 1], "=")) {
        const index = argumentIndex(what, called, token.text);
        if (index === undefined)
          throw fault(`names the argument ${token.text} of ${called}, which is not supported`);
        at += 2;
        while (args.length < index) args.push(nothing);
        args[index] = choice();
      } else args.push(choice());
      if (!peek(")")) expect(",");
    }
    return args;
  };
  const primary = (): Expression => {
    const token = tokens[at++];
    if (!token) throw fault("ends too soon");
    if (token.kind === "text" || token.kind === "number")
      return { kind: "constant", value: token.value };
    if (token.text === "(") {
      if (take(")")) return { kind: "list", items: [] };
      const inner = choice();
      if (!take(",")) {
        expect(")");
        return inner;
      }
      return { kind: "list", items: [inner, ...list(")")] };
    }
    if (token.text === "[") return { kind: "list", items: list("]") };
    if (token.text === "{") {
      const entries: [Expression, Expression][] = [];
      while (!take("}")) {
        const key = choice();
        expect(":");
        entries.push([key, choice()]);
        if (!peek("}")) expect(",");
      }
      return { kind: "map", entries };
    }
    if (token.kind !== "name") throw fault(`has "${token.text}" where a value belongs`);
    const constant = constants.get(token.text);
    if (constant !== undefined) return { kind: "constant", value: constant };
    if (take("(")) {
      const macro = known("macro", token.text, callNames.macro);
      return { kind: "call", what: "macro", name: macro, args: callArguments("macro", macro, []) };
    }
    if (locals.has(token.text)) return { kind: "variable", name: token.text };
    return { kind: "variable", name: known("variable", token.text, variableNames) };
  };

  const result = choice();
  if (at < tokens.length) throw fault("goes on where it should end");
  return result;
}

const isWord = (token: Token | undefined, text: string) =>
  token !== undefined && "text" in token && token.text === text;
