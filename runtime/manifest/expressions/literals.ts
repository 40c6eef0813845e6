/**
 * Python's literals: a finished text is read as one, where it is one. Airbyte's interpreter does so
 * with every value, so that "5" is a number and "[1, 'a']" is a list.
 */
import type { PlainValue } from "./values.ts";

const maxDepth = 50;
const maxChars = 262_144;
const grammar =
  /[ \t\r\n]+|([+-]?(?:\d(?:_?\d)*)?\.\d+(?:[eE][+-]?\d+)?|[+-]?\d(?:_?\d)*(?:\.\d*)?(?:[eE][+-]?\d+)?)|(True|False|None)\b|("""(?:[^\\]|\\.)*?"""|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")|([[\](){},:])/sy;

class NoLiteral extends Error {}

/** @returns the text itself when it is no literal */
export function readLiteral(text: string): PlainValue {
  // Most texts are none, which their first character tells.
  if (!/^[ \t]*["'[({\d.+TFN-]/.test(text) || text.length > maxChars) return text;
  try {
    return parse(text.replace(/^[ \t]+/, ""));
  } catch (error) {
    if (error instanceof NoLiteral) return text;
    throw error;
  }
}

function parse(text: string): PlainValue {
  let at = 0;
  let depth = 0;
  const next = (): RegExpExecArray => {
    for (;;) {
      grammar.lastIndex = at;
      const found = grammar.exec(text);
      if (!found) throw new NoLiteral();
      at = grammar.lastIndex;
      if (found.slice(1).some((part) => part !== undefined)) return found;
    }
  };
  const peek = () => {
    const before = at;
    while (/[ \t\r\n]/.test(text.charAt(at))) at++;
    const found = text.charAt(at);
    at = found === "" ? at : before;
    return found;
  };
  const items = (end: string, one: () => void): number => {
    let commas = 0;
    while (peek() !== end) {
      one();
      if (peek() !== ",") break;
      next();
      commas++;
    }
    if (next()[4] !== end) throw new NoLiteral();
    return commas;
  };
  const value = (): PlainValue => {
    if (++depth > maxDepth) throw new NoLiteral();
    const [, number, name, quoted, sign] = next();
    depth--;
    if (number !== undefined) return numberOf(number);
    if (name !== undefined) return name === "None" ? null : name === "True";
    if (quoted !== undefined) {
      let made = unquote(quoted);
      // Texts that stand side by side are one.
      while (/["']/.test(peek())) made += unquote(next()[3] ?? "");
      return made;
    }
    depth++;
    try {
      return nested(sign ?? "");
    } finally {
      depth--;
    }
  };
  const nested = (sign: string): PlainValue => {
    const list: PlainValue[] = [];
    if (sign === "[") {
      items("]", () => list.push(value()));
      return list;
    }
    if (sign === "(") {
      const commas = items(")", () => list.push(value()));
      return commas === 0 && list.length === 1 ? list[0] : list;
    }
    if (sign !== "{") throw new NoLiteral();
    const entries: [string, PlainValue][] = [];
    items("}", () => {
      const key = value();
      if (next()[4] !== ":" || typeof key !== "string") throw new NoLiteral();
      entries.push([key, value()]);
    });
    return Object.fromEntries(entries);
  };
  const made = value();
  if (/[^ \t\r\n]/.test(text.slice(at))) throw new NoLiteral();
  return made;
}

function numberOf(text: string): PlainValue {
  const plain = text.replaceAll("_", "");
  if (/^[+-]?0\d/.test(plain) && !/[.eE]/.test(plain) && !/^[+-]?0+$/.test(plain))
    throw new NoLiteral();
  const made = Number(plain);
  if (/^[+-]?\d+$/.test(plain))
    return Number.isSafeInteger(made) ? made : BigInt(plain.replace("+", ""));
  if (!Number.isFinite(made)) throw new NoLiteral();
  return float(made);
}

/** A number with a fraction, which Python writes with a point even where it has none. */
export function float(value: number): PlainValue {
  if (!Number.isInteger(value) || Math.abs(value) >= 1e16) return value;
  return (JSON as unknown as { rawJSON(text: string): object }).rawJSON(
    `${value}.0`,
  ) as unknown as PlainValue;
}

function unquote(quoted: string): string {
  const size = quoted.startsWith('"""') ? 3 : 1;
  return quoted
    .slice(size, -size)
    .replace(/\\(?:x([\da-f]{2})|u([\da-f]{4})|(\n)|(.))/gis, (_, hex, unicode, line, one) => {
      const code = hex ?? unicode;
      if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16));
      if (line !== undefined) return "";
      return (
        { n: "\n", t: "\t", r: "\r", "\\": "\\", "'": "'", '"': '"' }[one as string] ?? `\\${one}`
      );
    });
}
