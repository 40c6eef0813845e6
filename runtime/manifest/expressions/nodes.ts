/**
 * The statements of templates as trees: texts, expressions, choices, loops and names for values.
 */
import { invalid, Unsupported } from "../document/invalid.ts";
import type { Expression } from "./expression.ts";
import { parseExpression } from "./parse-expression.ts";
import { type Piece, splitTemplate, type Token } from "./tokens.ts";

export type Node =
  | { readonly kind: "literal"; readonly text: string }
  | { readonly kind: "expression"; readonly expression: Expression }
  | { readonly kind: "set"; readonly names: readonly string[]; readonly value: Expression }
  | {
      /** A name in a namespace gets a value. */
      readonly kind: "put";
      readonly namespace: string;
      readonly name: string;
      readonly value: Expression;
    }
  | {
      /** A name gets what is written within. */
      readonly kind: "capture";
      readonly name: string;
      /** Of {@link blockName}. */
      readonly filter: Expression | undefined;
      readonly nodes: readonly Node[];
    }
  | { readonly kind: "filter"; readonly filter: Expression; readonly nodes: readonly Node[] }
  | {
      readonly kind: "with";
      readonly values: readonly { readonly name: string; readonly value: Expression }[];
      readonly nodes: readonly Node[];
    }
  | {
      readonly kind: "macro";
      readonly name: string;
      readonly names: readonly { readonly name: string; readonly usual: Expression | undefined }[];
      readonly nodes: readonly Node[];
    }
  | {
      readonly kind: "if";
      readonly branches: readonly { readonly when: Expression; readonly nodes: readonly Node[] }[];
      readonly otherwise: readonly Node[];
    }
  | {
      readonly kind: "for";
      /** One for each item, or several for its parts. */
      readonly names: readonly string[];
      readonly list: Expression;
      readonly when: Expression | undefined;
      readonly nodes: readonly Node[];
      readonly otherwise: readonly Node[];
    };

const maxDepth = 20;
/** The text within a block, for its filters: no name of a template. */
export const blockName = "the text of a block";
/** Names that a loop has besides its own. */
const loopName = "loop";

/** @throws CONNECTOR_INVALID with the place, for what is not of the subset */
export function parseTemplate(template: string, path: string): Node[] {
  const pieces = splitTemplate(template, path);
  let at = 0;
  let depth = 0;
  /** Names that statements have given to values. */
  const locals = new Set<string>();
  const macros = new Set<string>();
  const expressionOf = (tokens: readonly Token[]) =>
    parseExpression(tokens, path, { values: locals, macros });
  /** Filters of what is written within a block. */
  const filterOf = (tokens: readonly Token[]) =>
    parseExpression(
      [{ kind: "name", text: blockName }, { kind: "operator", text: "|" }, ...tokens],
      path,
      { values: new Set([...locals, blockName]), macros },
    );

  const until = (...ends: string[]): Node[] => {
    const nodes: Node[] = [];
    for (; at < pieces.length; at++) {
      const piece = pieces[at] as Piece;
      if (piece.kind === "literal") nodes.push(piece);
      else if (piece.kind === "expression")
        nodes.push({ kind: "expression", expression: expressionOf(piece.tokens) });
      else {
        const word = textOf(piece.tokens[0]);
        if (ends.includes(word)) return nodes;
        nodes.push(statement(word, piece.tokens.slice(1)));
      }
    }
    if (ends.length > 0) throw invalid(path, `holds a statement without ${ends.at(-1)}`);
    return nodes;
  };
  const statement = (word: string, tokens: readonly Token[]): Node => {
    const isBlock = word === "set" && !tokens.some((token) => textOf(token) === "=");
    if (word === "set" && !isBlock) return assignment(tokens);
    const parts = { if: branch, for: loop, set: capture, filter, with: around, macro };
    const part = Object.hasOwn(parts, word) ? parts[word as keyof typeof parts] : undefined;
    if (!part)
      throw new Unsupported(
        path,
        `uses the statement ${word || "without a name"}, which is not supported`,
      );
    if (++depth > maxDepth) throw invalid(path, `nests more than ${maxDepth} statements`);
    const made = part(tokens);
    depth--;
    return made;
  };
  const nameOf = (token: Token | undefined) => nameFrom(token, path);
  const namesOf = (tokens: readonly Token[]) => namesFrom(tokens, path);
  const assignment = (tokens: readonly Token[]): Node => {
    const equalsAt = tokens.findIndex((token) => textOf(token) === "=");
    const [target, value] = [tokens.slice(0, equalsAt), expressionOf(tokens.slice(equalsAt + 1))];
    if (textOf(target[1]) === "." && target.length === 3)
      return {
        ...{ kind: "put", namespace: nameOf(target[0]), name: nameOf(target[2]) },
        value,
      };
    const names = namesOf(target);
    for (const name of names) locals.add(name);
    return { kind: "set", names, value };
  };
  /** Goes into a block, and to its end. */
  const within = (end: string): Node[] => {
    at++;
    return until(end);
  };
  const capture = ([name, bar, ...more]: readonly Token[]): Node => {
    const called = nameOf(name);
    if (bar && textOf(bar) !== "|")
      throw new Unsupported(path, "gives names in a form that is not supported");
    const filter = bar && filterOf(more);
    const nodes = within("endset");
    locals.add(called);
    return { kind: "capture", name: called, filter, nodes };
  };
  const filter = (tokens: readonly Token[]): Node => ({
    ...{ kind: "filter", filter: filterOf(tokens) },
    nodes: within("endfilter"),
  });
  const around = (tokens: readonly Token[]): Node => {
    const values = parted(tokens).map(([name, equals, ...value]) => {
      if (textOf(equals) !== "=") throw invalid(path, "holds a with without a value");
      return { name: nameOf(name), value: expressionOf(value) };
    });
    for (const { name } of values) locals.add(name);
    return { kind: "with", values, nodes: within("endwith") };
  };
  const macro = ([name, open, ...more]: readonly Token[]): Node => {
    const called = nameOf(name);
    if (textOf(open) !== "(" || textOf(more.at(-1)) !== ")")
      throw invalid(path, "holds a macro without its names");
    macros.add(called);
    const names = parted(more.slice(0, -1)).map(([one, equals, ...usual]) => {
      if (equals && textOf(equals) !== "=") throw invalid(path, "holds a macro without its names");
      const made = { name: nameOf(one), usual: equals && expressionOf(usual) };
      locals.add(made.name);
      return made;
    });
    return { kind: "macro", name: called, names, nodes: within("endmacro") };
  };
  const branch = (_: readonly Token[]): Node => {
    const branches: { when: Expression; nodes: readonly Node[] }[] = [];
    let otherwise: readonly Node[] = [];
    for (;;) {
      const piece = pieces[at++];
      const tokens = piece && piece.kind !== "literal" ? piece.tokens : [];
      const word = textOf(tokens[0]);
      if (word === "endif") break;
      if (word === "else") otherwise = until("endif");
      else
        branches.push({
          when: expressionOf(tokens.slice(1)),
          nodes: until("elif", "else", "endif"),
        });
    }
    at--;
    return { kind: "if", branches, otherwise };
  };
  const loop = (tokens: readonly Token[]): Node => {
    const inAt = tokens.findIndex((token) => textOf(token) === "in");
    if (inAt < 1) throw invalid(path, "holds a for without names");
    const names = namesOf(tokens.slice(0, inAt));
    // One that stands in brackets is a choice of values.
    const ifAt = topOf(tokens).find((index) => textOf(tokens[index]) === "if") ?? -1;
    if (textOf(tokens.at(-1)) === "recursive" && textOf(tokens.at(-2)) !== ".")
      throw new Unsupported(path, "uses a recursive loop, which is not supported");
    const list = expressionOf(tokens.slice(inAt + 1, ifAt === -1 ? undefined : ifAt));
    for (const name of [...names, loopName]) locals.add(name);
    const when = ifAt === -1 ? undefined : expressionOf(tokens.slice(ifAt + 1));
    at++;
    const nodes = until("else", "endfor");
    const end = pieces[at];
    const isElse = end && end.kind !== "literal" && textOf(end.tokens[0]) === "else";
    if (isElse) at++;
    return { kind: "for", names, list, when, nodes, otherwise: isElse ? until("endfor") : [] };
  };
  return until();
}

function nameFrom(token: Token | undefined, path: string): string {
  if (token?.kind !== "name") throw invalid(path, "holds a statement that lacks a name");
  return token.text;
}

/** Names with commas between them, perhaps in brackets. */
function namesFrom(tokens: readonly Token[], path: string): string[] {
  const isBracketed = textOf(tokens[0]) === "(" && textOf(tokens.at(-1)) === ")";
  const inner = isBracketed ? tokens.slice(1, -1) : tokens;
  const names = inner.filter((_, at) => at % 2 === 0).map((token) => nameFrom(token, path));
  const areParted = inner.every((token, at) => at % 2 === 0 || textOf(token) === ",");
  if (names.length === 0 || !areParted)
    throw new Unsupported(path, "gives names in a form that is not supported");
  return names;
}

/** Where the tokens stand that are in no brackets. */
function topOf(tokens: readonly Token[]): number[] {
  let depth = 0;
  return tokens.flatMap((token, index) => {
    const text = token.kind === "operator" ? token.text : "";
    if (["(", "[", "{"].includes(text)) depth++;
    if ([")", "]", "}"].includes(text)) depth--;
    return depth === 0 ? [index] : [];
  });
}

/** The parts between commas; none for nothing. */
function parted(tokens: readonly Token[]): Token[][] {
  if (tokens.length === 0) return [];
  const made: Token[][] = [[]];
  const top = new Set(topOf(tokens));
  for (const [index, token] of tokens.entries())
    if (textOf(token) === "," && top.has(index)) made.push([]);
    else made.at(-1)?.push(token);
  return made;
}

const textOf = (token: Token | undefined): string =>
  token !== undefined && "text" in token ? token.text : "";
