/**
 * Templates: texts with expressions of Jinja's, as the published schema of manifests uses them.
 * They are trees that are walked: nothing is compiled to code.
 */
import { invalid } from "../document/invalid.ts";
import { createEvaluator, type Evaluator, type Scope } from "./evaluate.ts";
import { EvaluationError, UndefinedError } from "./evaluation-error.ts";
import { readLiteral } from "./literals.ts";
import { type Node, parseTemplate } from "./nodes.ts";
import { items } from "./operands.ts";
import { type PlainValue, toText, truth } from "./values.ts";

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

/** @throws CONNECTOR_INVALID with the place, for what is not of the subset */
export function compileTemplate(template: string, path: string): Template {
  const nodes = parseTemplate(template, path);
  const isPlain = nodes.every(({ kind }) => kind === "literal");
  const written = isPlain ? template.replace(/\n$/, "") : "";
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
  const holds = (scope: Scope) =>
    withPlace(() => {
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
      at.set(node.name, at.evaluate(node.value));
      return "";
    case "if": {
      const taken = node.branches.find(({ when }) => truth(at.evaluate(when)));
      return write(taken?.nodes ?? node.otherwise, at);
    }
    case "for":
      return writeEach(node, at);
  }
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
        ...{ index: index + 1, index0: index, length: list.length },
        ...{ first: index === 0, last: index === list.length - 1 },
      };
      return write(node.nodes, at.within(new Map([...named(item), ["loop", loop]])));
    })
    .join("");
}
