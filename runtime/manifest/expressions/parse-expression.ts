/**
 * Expressions as trees. What the subset has not is refused by name, when the manifest is loaded.
 */

import { type Expression, variableNames } from "./expression.ts";
import { argumentIndex, type CallKind, callNames, namedPlace } from "./functions.ts";
import { createTokenReader, isWord, type TokenReader } from "./token-reader.ts";
import type { Token } from "./tokens.ts";
import { comparingTests, testNamed, testNames } from "./value-tests.ts";

const constants: ReadonlyMap<string, boolean | null> = new Map([
  ...["true", "True"].map((name) => [name, true] as const),
  ...["false", "False"].map((name) => [name, false] as const),
  ...["none", "None"].map((name) => [name, null] as const),
]);
const comparisons = ["==", "!=", "<", ">", "<=", ">="];
/** An argument that is left out. */
const nothing: Expression = { kind: "constant", value: undefined };

/** Names that a template has given: to values, and to macros. */
export interface LocalNames {
  readonly values: ReadonlySet<string>;
  readonly macros: ReadonlySet<string>;
}
const noNames: LocalNames = { values: new Set(), macros: new Set() };

/** @param locals that statements have given @throws CONNECTOR_INVALID with the place */
export function parseExpression(
  tokens: readonly Token[],
  path: string,
  locals: LocalNames = noNames,
): Expression {
  const reader = createTokenReader(tokens, path);
  const { peek, take, expect, fault, name, known, deeper } = reader;

  const choice = (): Expression =>
    deeper(() => {
      const yes = either();
      if (!take("if")) return yes;
      const condition = either();
      const no: Expression = take("else") ? choice() : nothing;
      return { kind: "choice", condition, yes, no };
    });
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
    return { kind: "not", of: deeper(negation) };
  };
  const comparison = (): Expression => {
    let left = sum();
    let all: Expression | undefined;
    for (;;) {
      const isNot = peek("not") && isWord(reader.next(1), "in");
      if (isNot) reader.skip();
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
  const sum = () => chain(joined, "+", "-");
  const joined = () => chain(product, "~");
  const product = () => chain(power, "*", "//", "/", "%");
  /** A sign binds more tightly than filters and powers: `-3 | abs` is 3, and `-2 ** 2` is 4. */
  const power = () => chain(() => filtered(signed()), "**");
  const signed = (): Expression => {
    const sign = take("+", "-");
    if (!sign) return reached(primary());
    const of = deeper(signed);
    return reached(sign === "-" ? { kind: "minus", of } : of);
  };
  const filtered = (start: Expression): Expression => {
    let value = start;
    for (;;) {
      if (take("|")) {
        const filter = known("filter", name(), callNames.filter);
        const args = take("(") ? argumentsOf("filter", filter, [value]) : [value];
        knowSecond(reader, filter, args);
        value = { kind: "call", what: "filter", name: filter, args };
      } else if (take("is")) {
        const isNot = take("not") !== undefined;
        const called = known("test", name(), testNames);
        const isComparing = comparingTests.includes(called);
        const args = isComparing
          ? [take("(") ? (parseItems(reader, choice, ")")[0] ?? nothing) : reached(primary())]
          : [];
        const test: Expression = { kind: "test", name: called, of: value, args };
        value = isNot ? { kind: "not", of: test } : test;
      } else return value;
    }
  };
  const reached = (start: Expression): Expression => {
    let value = start;
    for (;;) {
      if (take(".")) {
        const token = reader.next();
        if (token?.kind === "number") reader.skip();
        const key = token?.kind === "number" ? String(token.value) : name();
        if (take("(")) {
          const method = known("method", key, callNames.method);
          const args = argumentsOf("method", method, [value]);
          value = { kind: "call", what: "method", name: method, args };
        } else value = { kind: "item", of: value, key: keyOf(key, reader) };
      } else if (take("[")) {
        const key = peek(":") ? undefined : choice();
        if (!key || peek(":")) {
          value = parseSlice(reader, choice, value, key);
          continue;
        }
        expect("]");
        const isText = key.kind === "constant" && typeof key.value === "string";
        value = { kind: "item", of: value, key: isText ? keyOf(String(key.value), reader) : key };
      } else return value;
    }
  };
  const argumentsOf = (...call: [what: CallKind, called: string, given: readonly Expression[]]) =>
    parseArguments(reader, choice, ...call);
  const primary = (): Expression => {
    const token = reader.skip();
    if (!token) throw fault("ends too soon");
    if (token.kind === "number") return { kind: "constant", value: token.value };
    if (token.kind === "text") {
      let { value } = token;
      // Texts that stand side by side are one.
      for (let one = reader.next(); one?.kind === "text"; one = reader.next()) {
        value += one.value;
        reader.skip();
      }
      return { kind: "constant", value };
    }
    if (token.text === "(") {
      if (take(")")) return { kind: "tuple", items: [] };
      const inner = choice();
      if (!take(",")) {
        expect(")");
        return inner;
      }
      return { kind: "tuple", items: [inner, ...parseItems(reader, choice, ")")] };
    }
    if (token.text === "[") return { kind: "list", items: parseItems(reader, choice, "]") };
    if (token.text === "{") return parseMap(reader, choice);
    if (token.kind !== "name") throw fault(`has "${token.text}" where a value belongs`);
    const constant = constants.get(token.text);
    if (constant !== undefined) return { kind: "constant", value: constant };
    if (locals.macros.has(token.text) && take("("))
      return parseInvocation(reader, choice, token.text);
    if (take("(")) {
      const macro = known("macro", token.text, callNames.macro);
      return { kind: "call", what: "macro", name: macro, args: argumentsOf("macro", macro, []) };
    }
    if (locals.values.has(token.text)) return { kind: "variable", name: token.text };
    return { kind: "variable", name: known("variable", token.text, variableNames) };
  };

  let result = choice();
  // Values with commas between them are one, without brackets too.
  if (peek(",")) {
    const items = [result];
    while (take(",")) if (reader.next()) items.push(choice());
    result = { kind: "tuple", items };
  }
  if (reader.next()) throw fault("goes on where it should end");
  return result;
}

type ParseOne = () => Expression;

/** Arguments by their place, or by the name that the function gives the place. */
function parseArguments(
  reader: TokenReader,
  parseOne: ParseOne,
  what: CallKind,
  called: string,
  given: readonly Expression[],
): Expression[] {
  const { peek, take, expect, next, skip, fault } = reader;
  const args = [...given];
  const open = namedPlace(what, called);
  const named: [Expression, Expression][] = [];
  if (open !== undefined) args.splice(open, 0, { kind: "map", entries: named });
  while (!take(")")) {
    const token = next();
    const isNamed = token?.kind === "name" && isWord(next(1), "=");
    if (isNamed && open !== undefined) {
      skip(2);
      named.push([keyOf(token.text, reader), parseOne()]);
    } else if (isNamed) {
      const index = argumentIndex(what, called, token.text);
      if (index === undefined)
        throw fault(`names the argument ${token.text} of ${called}, which is not supported`);
      skip(2);
      while (args.length < index) args.push(nothing);
      args[index] = parseOne();
    } else args.push(parseOne());
    if (!peek(")")) expect(",");
  }
  return args;
}

/** A call of a macro of the template. */
function parseInvocation(
  { peek, take, expect, next, skip }: TokenReader,
  parseOne: ParseOne,
  name: string,
): Expression {
  const args: Expression[] = [];
  const named: [string, Expression][] = [];
  while (!take(")")) {
    const token = next();
    if (token?.kind === "name" && isWord(next(1), "=")) {
      skip(2);
      named.push([token.text, parseOne()]);
    } else args.push(parseOne());
    if (!peek(")")) expect(",");
  }
  return { kind: "invoke", name, args, named };
}

/** A filter or test that another one calls by its name is known at once, too. */
function knowSecond({ known }: TokenReader, filter: string, args: readonly Expression[]): void {
  const called = args[filter.endsWith("attr") ? 2 : 1];
  if (called?.kind !== "constant" || typeof called.value !== "string") return;
  if (filter === "map") known("filter", called.value, callNames.filter);
  if (/^(?:select|reject)/.test(filter)) known("test", testNamed(called.value), testNames);
}

function parseItems(
  { peek, take, expect }: TokenReader,
  parseOne: ParseOne,
  end: string,
): Expression[] {
  const items: Expression[] = [];
  while (!take(end)) {
    items.push(parseOne());
    if (!peek(end)) expect(",");
  }
  return items;
}

function parseMap({ peek, take, expect }: TokenReader, parseOne: ParseOne): Expression {
  const entries: [Expression, Expression][] = [];
  while (!take("}")) {
    const key = parseOne();
    expect(":");
    entries.push([key, parseOne()]);
    if (!peek("}")) expect(",");
  }
  return { kind: "map", entries };
}

function parseSlice(
  { peek, take, expect }: TokenReader,
  parseOne: ParseOne,
  of: Expression,
  from: Expression | undefined,
): Expression {
  const bounds: (Expression | undefined)[] = [from];
  while (bounds.length < 3 && take(":"))
    bounds.push(peek(":") || peek("]") ? undefined : parseOne());
  expect("]");
  return { kind: "slice", of, bounds };
}

/** Objects have no insides here; who reaches for them is told so. */
function keyOf(key: string, { fault }: TokenReader): Expression {
  if (key.startsWith("__") || key === "constructor" || key === "prototype")
    throw fault(`reaches for "${key}"`);
  return { kind: "constant", value: /^\d+$/.test(key) ? Number(key) : key };
}
