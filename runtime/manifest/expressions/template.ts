/**
 * Templates: texts with expressions of Jinja's, as the published schema of manifests uses them.
 * They are trees that are walked: nothing is compiled to code.
 */
import { invalid } from "../document/invalid.ts";
import { createEvaluator, type Evaluator, type Scope } from "./evaluate.ts";
import { EvaluationError, UndefinedError } from "./evaluation-error.ts";
import type { Expression } from "./expression.ts";
import { readLiteral } from "./literals.ts";
import { blockName, type Node, parseTemplate } from "./nodes.ts";
import { items } from "./operands.ts";
import { type PlainValue, toText, truth } from "./values.ts";

export interface Template {
  /** The text, with each expression in its place. @throws CONNECTOR_INVALID with the place */
  text(scope: Scope): string;
  /** The same, read as Python reads literals: "5" is a number, "None" is null. */
  value(scope: Scope): PlainValue;
  /** The text; undefined where it asks something that is not there for a part. */
  perhapsText(scope: Scope): string | undefined;
  /** The same as a value; undefined where it asks something that is not there for a part. */
  perhaps(scope: Scope): PlainValue;
  /**
   * Whether the text is true, as a condition: empty, "False", "None" and "0" are not, and what asks
   * something that is not there for a part is not either.
   */
  holds(scope: Scope): boolean;
  /** True when there is nothing to evaluate in it. */
  readonly isPlain: boolean;
}

/** @throws CONNECTOR_INVALID with the place, for what is not of the subset */
export function compileTemplate(template: string, path: string): Template {
  const nodes = parseTemplate(template, path);
  const isPlain = nodes.every(({ kind }) => kind === "literal");
  const written = nodes.map((node) => (node.kind === "literal" ? node.text : "")).join("");
  const plain = isPlain ? readLiteral(written) : undefined;
  const make = (scope: Scope) => (isPlain ? written : render(nodes, scope, path));
  const withPlace = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      if (error instanceof EvaluationError)
        throw invalid(path, `holds an expression that ${error.message}`);
      throw error;
    }
  };
  const text = (scope: Scope) => withPlace(() => make(scope));
  const value = (scope: Scope) => (isPlain ? plain : readLiteral(text(scope)));
  const perhapsText = (scope: Scope) =>
    withPlace(() => {
      try {
        return make(scope);
      } catch (error) {
        if (error instanceof UndefinedError) return undefined;
        throw error;
      }
    });
  const perhaps = (scope: Scope) => {
    if (isPlain) return plain;
    const made = perhapsText(scope);
    return made === undefined ? undefined : readLiteral(made);
  };
  const holds = (scope: Scope) => {
    const made = perhaps(scope);
    return truth(made) && made !== "false";
  };
  return { text, value, perhapsText, perhaps, holds, isPlain };
}

function render(nodes: readonly Node[], scope: Scope, path: string): string {
  try {
    return write(nodes, createEvaluator(scope, path));
  } catch (error) {
    if (error instanceof RangeError) throw invalid(path, "makes more than a value can hold");
    throw error;
  }
}

const write = (nodes: readonly Node[], at: Evaluator): string =>
  nodes.map((node) => writeOne(node, at)).join("");

function writeOne(node: Node, at: Evaluator): string {
  switch (node.kind) {
    case "literal":
      return at.add(node.text);
    case "expression":
      return at.add(toText(at.evaluate(node.expression)));
    case "set":
      assign(node.names, at.evaluate(node.value), at);
      return "";
    case "put":
      at.put(node.namespace, node.name, at.evaluate(node.value));
      return "";
    case "capture": {
      const text = write(node.nodes, at.within(new Map()));
      at.set(node.name, filtered(node.filter, text, at));
      return "";
    }
    case "filter":
      return at.add(toText(filtered(node.filter, write(node.nodes, at.within(new Map())), at)));
    case "with": {
      const inner = at.within(new Map());
      for (const { name, value } of node.values) inner.set(name, at.evaluate(value));
      return write(node.nodes, inner);
    }
    case "macro":
      at.define(node.name, (args, named) => write(node.nodes, argumentsOf(node, args, named, at)));
      return "";
    case "if": {
      const taken = node.branches.find(({ when }) => truth(at.evaluate(when)));
      return write(taken?.nodes ?? node.otherwise, at);
    }
    case "for":
      return writeEach(node, at);
  }
}

const filtered = (filter: Expression | undefined, text: string, at: Evaluator): PlainValue =>
  filter ? at.within(new Map([[blockName, text]])).evaluate(filter) : text;

/** One name, or several for the parts of a value. @throws EvaluationError for another number */
function assign(names: readonly string[], value: PlainValue, at: Evaluator): void {
  const parts = names.length === 1 ? [value] : items(value);
  if (parts.length !== names.length)
    throw new EvaluationError("gives names to what has not as many parts");
  for (const [index, name] of names.entries()) at.set(name, parts[index]);
}

function argumentsOf(
  { names }: Extract<Node, { kind: "macro" }>,
  args: readonly PlainValue[],
  named: ReadonlyMap<string, PlainValue>,
  at: Evaluator,
): Evaluator {
  const known = names.map(({ name }) => name);
  if (args.length > names.length || [...named.keys()].some((name) => !known.includes(name)))
    throw new EvaluationError("calls a macro with what it does not take");
  const inner = at.within(new Map());
  for (const [index, { name, usual }] of names.entries())
    inner.set(
      name,
      index < args.length
        ? args[index]
        : named.has(name)
          ? named.get(name)
          : usual && inner.evaluate(usual),
    );
  return inner;
}

function writeEach(node: Extract<Node, { kind: "for" }>, at: Evaluator): string {
  const { names, when } = node;
  const named = (item: PlainValue) => {
    const parts = names.length === 1 ? [item] : items(item);
    return names.map((name, index) => [name, parts[index]] as const);
  };
  const list = items(at.evaluate(node.list)).filter(
    (item) => !when || truth(at.within(new Map(named(item))).evaluate(when)),
  );
  if (list.length === 0) return write(node.otherwise, at);
  return list
    .map((item, index) => {
      const loop = {
        ...{ index: index + 1, index0: index, length: list.length, depth: 1, depth0: 0 },
        ...{ revindex: list.length - index, revindex0: list.length - index - 1 },
        ...{ previtem: list[index - 1], nextitem: list[index + 1] },
        ...{ first: index === 0, last: index === list.length - 1 },
      };
      return write(node.nodes, at.within(new Map([...named(item), ["loop", loop]])));
    })
    .join("");
}
