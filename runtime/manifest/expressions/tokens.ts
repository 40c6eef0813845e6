/** The pieces of a template: texts, and the tokens of its expressions and statements. */
import { invalid, Unsupported } from "../document/invalid.ts";
import { float, unescaped, whole } from "./literals.ts";
import type { PlainValue } from "./values.ts";

export type Token =
  | { readonly kind: "name" | "operator"; readonly text: string }
  | { readonly kind: "text"; readonly value: string }
  | { readonly kind: "number"; readonly value: PlainValue };

export type Piece =
  | { readonly kind: "literal"; readonly text: string }
  | { readonly kind: "expression" | "statement"; readonly tokens: readonly Token[] };

const maxTemplateChars = 10_000;
const maxTokens = 2_000;

const grammar =
  /\s+|([A-Za-z_]\w*)|(0[xX](?:_?[\da-fA-F])+|0[oO](?:_?[0-7])+|0[bB](?:_?[01])+|\d(?:_?\d)*(?:\.\d(?:_?\d)*)?(?:[eE][+-]?\d(?:_?\d)*)?)|'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|(==|!=|<=|>=|\/\/|\*\*|[-+*/%~<>()[\]{}.,:|=])/sy;

/** @throws CONNECTOR_INVALID with the place, for what is no template of the subset */
export function splitTemplate(written: string, path: string): Piece[] {
  // As Jinja does: the end of the last line is none of the text.
  const template = written.replace(/\n$/, "");
  if (template.length > maxTemplateChars)
    throw invalid(path, `holds a template of more than ${maxTemplateChars} characters`);
  const pieces: Piece[] = [];
  let at = 0;
  let count = 0;
  while (at < template.length) {
    const open = /\{[{%#]/g;
    open.lastIndex = at;
    const found = open.exec(template);
    const end = found?.index ?? template.length;
    const isCut = found !== null && template[end + 2] === "-";
    const text = template.slice(at, end);
    const literal = isCut ? text.trimEnd() : text;
    if (literal !== "") pieces.push({ kind: "literal", text: literal });
    if (!found) break;
    const close = { "{{": "}}", "{%": "%}", "{#": "#}" }[found[0]] ?? "}}";
    const tokens: Token[] = [];
    at = end + 2;
    if (close === "#}") {
      at = template.indexOf(close, at) + 2;
      if (at === 1) throw invalid(path, "holds a comment without an end");
      at = afterCut(template, at);
      continue;
    }
    if (template[at] === "-" || (template[at] === "+" && close === "%}")) at++;
    const raw = close === "%}" ? rawFrom(template, at, path) : undefined;
    if (raw) {
      if (raw.text !== "") pieces.push({ kind: "literal", text: raw.text });
      at = raw.end;
      continue;
    }
    for (;;) {
      const rest = template.slice(at, at + 3);
      const isEnd = [close, `-${close}`, ...(close === "%}" ? ["+%}"] : [])].some((end) =>
        rest.startsWith(end),
      );
      if (isEnd && depthOf(tokens) === 0) break;
      grammar.lastIndex = at;
      const match = grammar.exec(template);
      if (!match)
        throw new Unsupported(path, `holds an expression with a fault at character ${at + 1}`);
      at = grammar.lastIndex;
      const [, name, number, single, double, operator] = match;
      const quoted = single ?? double;
      if (name !== undefined) tokens.push({ kind: "name", text: name });
      else if (number !== undefined) tokens.push({ kind: "number", value: numberOf(number) });
      else if (quoted !== undefined) tokens.push({ kind: "text", value: unescaped(quoted) });
      else if (operator !== undefined) tokens.push({ kind: "operator", text: operator });
      if (++count > maxTokens) throw invalid(path, `holds more than ${maxTokens} words`);
    }
    at = afterCut(template, template.indexOf(close, at) + 2);
    pieces.push({ kind: close === "}}" ? "expression" : "statement", tokens });
  }
  return pieces;
}

/** The text of `{% raw %}`, in which nothing is an expression. @param from behind the `{%` */
function rawFrom(template: string, from: number, path: string) {
  const [begin] = /^\s*raw\s*-?%\}/.exec(template.slice(from, from + 100)) ?? [];
  if (begin === undefined) return undefined;
  const ending = /\{%([-+]?)\s*endraw\s*[-+]?%\}/g;
  const start = from + begin.length;
  ending.lastIndex = start;
  const found = ending.exec(template);
  if (!found) throw invalid(path, "holds a raw text without endraw");
  let text = template.slice(start, found.index);
  if (begin.endsWith("-%}")) text = text.trimStart();
  if (found[1] === "-") text = text.trimEnd();
  return { text, end: afterCut(template, ending.lastIndex) };
}

/** A minus at the end takes the blanks behind it away. */
const afterCut = (template: string, at: number): number =>
  template[at - 3] === "-" ? template.length - template.slice(at).trimStart().length : at;

/** Brackets that are open: the end of a dictionary is not the end of the expression. */
function depthOf(tokens: readonly Token[]): number {
  return tokens.reduce((depth, token) => {
    if (token.kind !== "operator") return depth;
    return depth + (token.text === "{" ? 1 : token.text === "}" ? -1 : 0);
  }, 0);
}

/** With a point or an exponent it has a fraction, if of nothing. */
function numberOf(text: string): PlainValue {
  const plain = text.replaceAll("_", "");
  const isWhole = /^0[xob]/i.test(plain) || !/[.e]/i.test(plain);
  return isWhole ? whole(BigInt(plain)) : float(Number(plain));
}
