/**
 * Python's literals: a finished text is read as one, where it is one. Airbyte's interpreter does so
 * with every value, so that "5" is a number and "[1, 'a']" is a list.
 */
import { type PlainValue, toText, tupleOf } from "./values.ts";

const maxDepth = 50;
const maxChars = 262_144;
const grammar =
  /[ \t\r\n]+|#[^\n]*|([+-]?0[xX](?:_?[\da-fA-F])+|[+-]?0[oO](?:_?[0-7])+|[+-]?0[bB](?:_?[01])+|[+-]?(?:\d(?:_?\d)*)?\.\d+(?:[eE][+-]?\d+)?|[+-]?\d(?:_?\d)*(?:\.\d*)?(?:[eE][+-]?\d+)?)|(True|False|None)\b|([uUrR]?"""(?:[^\\]|\\.)*?"""|[uUrR]?'(?:[^'\\\n]|\\.)*'|[uUrR]?"(?:[^"\\\n]|\\.)*")|([[\](){},:])/sy;

const blank = /(?:[ \t\r\n]|#[^\n]*)*/y;
/** Longer ones are no number for Python either. */
const maxDigits = 4_300;

class NoLiteral extends Error {}

/** @returns the text itself when it is no literal */
export function readLiteral(text: string): PlainValue {
  // Most texts are none, which their first character tells.
  if (!/^[ \t]*(?:["'[({\d.+TFN-]|[uUrR]["'])/.test(text) || text.length > maxChars) return text;
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
    blank.lastIndex = at;
    at += blank.exec(text)?.[0].length ?? 0;
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
      return commas === 0 && list.length === 1 ? list[0] : tupleOf(list);
    }
    if (sign !== "{") throw new NoLiteral();
    const entries: [string, PlainValue][] = [];
    items("}", () => {
      const key = value();
      const isKey = typeof key !== "object" || key === null;
      if (next()[4] !== ":" || !isKey) throw new NoLiteral();
      entries.push([toText(key), value()]);
    });
    return Object.fromEntries(entries);
  };
  const made = value();
  if (peek() === ",") {
    // Values with commas between them are one, without brackets too.
    const list = [made];
    while (peek() === ",") {
      next();
      if (peek() !== "") list.push(value());
    }
    if (peek() !== "") throw new NoLiteral();
    return tupleOf(list);
  }
  if (peek() !== "") throw new NoLiteral();
  return made;
}

function numberOf(text: string): PlainValue {
  if (text.length > maxDigits) throw new NoLiteral();
  const plain = text.replaceAll("_", "");
  const [, sign, based] = /^([+-]?)(0[xob][\da-f]+)$/i.exec(plain) ?? [];
  if (based !== undefined) return whole(sign === "-" ? -BigInt(based) : BigInt(based));
  if (/^[+-]?0\d/.test(plain) && !/[.eE]/.test(plain) && !/^[+-]?0+$/.test(plain))
    throw new NoLiteral();
  const made = Number(plain);
  if (/^[+-]?\d+$/.test(plain)) return whole(BigInt(plain.replace("+", "")));
  if (!Number.isFinite(made)) throw new NoLiteral();
  return float(made);
}

/** A whole number, exact whatever its size. */
export const whole = (value: bigint): PlainValue =>
  Number.isSafeInteger(Number(value)) ? Number(value) : value;

/** A number with a fraction, which Python writes with a point even where it has none. */
export function float(value: number): PlainValue {
  if (!Number.isInteger(value) || Math.abs(value) >= 1e16) return value;
  return (JSON as unknown as { rawJSON(text: string): object }).rawJSON(
    `${value}.0`,
  ) as unknown as PlainValue;
}

function unquote(quoted: string): string {
  const bare = quoted.replace(/^[uUrR]/, "");
  const size = bare.startsWith('"""') ? 3 : 1;
  const inner = bare.slice(size, -size);
  return /^[rR]/.test(quoted) ? inner : unescaped(inner);
}

/** Escapes of Python's texts: what is none stays as it is, its backslash too. */
export const unescaped = (text: string): string =>
  text.replace(
    /\\(?:x([\da-f]{2})|u([\da-f]{4})|U([\da-f]{8})|([0-7]{1,3})|(\n)|(.))/gis,
    (whole, hex, unicode, long, octal, line, one) => {
      const code = hex ?? unicode ?? long;
      if (whole[1] === "X") return whole;
      if (code !== undefined) return characterOf(Number.parseInt(code, 16)) ?? whole;
      if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8));
      if (line !== undefined) return "";
      return escapes[one as string] ?? whole;
    },
  );
const characterOf = (code: number) => (code > 0x10ffff ? undefined : String.fromCodePoint(code));
const escapes: Readonly<Record<string, string>> = {
  ...{ n: "\n", t: "\t", r: "\r", "\\": "\\", "'": "'", '"': '"' },
  ...{ a: "\x07", b: "\b", f: "\f", v: "\v" },
};
