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
  | { readonly kind: "set"; readonly name: string; readonly value: Expression }
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
/** Names that a loop has besides its own. */
const loopName = "loop";

/** @throws CONNECTOR_INVALID with the place, for what is not of the subset */
export function parseTemplate(template: string, path: string): Node[] {
  const pieces = splitTemplate(template, path);
  let at = 0;
  let depth = 0;
  /** Names that statements have given to values. */
  const locals = new Set<string>();
  const expressionOf = (tokens: readonly Token[]) => parseExpression(tokens, path, locals);

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
    if (word === "set") return assignment(tokens);
    if (word !== "if" && word !== "for")
      throw new Unsupported(
        path,
        `uses the statement ${word || "without a name"}, which is not supported`,
      );
    if (++depth > maxDepth) throw invalid(path, `nests more than ${maxDepth} statements`);
    const made = word === "if" ? branch() : loop(tokens);
    depth--;
    return made;
  };
  const assignment = ([name, equals, ...value]: readonly Token[]): Node => {
    if (name?.kind !== "name" || textOf(equals) !== "=")
      throw new Unsupported(path, "sets more than one name, which is not supported");
    const made: Node = { kind: "set", name: name.text, value: expressionOf(value) };
    locals.add(name.text);
    return made;
  };
  const branch = (): Node => {
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
    const names = tokens
      .slice(0, Math.max(0, inAt))
      .filter((token) => textOf(token) !== ",")
      .map(textOf);
    if (names.length === 0 || names.some((name) => !/^[A-Za-z_]\w*$/.test(name)))
      throw invalid(path, "holds a for without names");
    const ifAt = tokens.findIndex((token) => textOf(token) === "if");
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

const textOf = (token: Token | undefined): string =>
  token !== undefined && "text" in token ? token.text : "";
