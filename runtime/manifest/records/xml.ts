/**
 * XML as manifests see it: an element is what is in it by name, attributes as "@name", text beside
 * others as "#text", and what repeats is a list. Text is trimmed; namespaces stay in the names.
 * @see https://www.w3.org/TR/xml/
 */
import { ConnectorError } from "../../contract/errors.ts";
import type { PlainValue } from "../expressions/values.ts";

/** Deeper than any export. */
const maxDepth = 100;
/** The elements that a worker's memory holds besides the text. */
const maxElements = 2_000_000;

interface Open {
  readonly name: string;
  readonly parts: Map<string, PlainValue>;
  text: string;
}

/**
 * The document, below the name of its root.
 * @throws RESPONSE_INVALID for what is not well-formed, nested too deeply, or declares entities:
 * one of a few lines can stand for gigabytes
 */
export function parseXml(source: string): PlainValue {
  const text = source.replace(/^\uFEFF/, "").replace(/\r\n?/g, "\n");
  refuseOtherEncodings(text);
  const root = openElement("");
  const open = [root];
  let elements = 0;
  let at = 0;
  const find = (mark: string, from: number): number => {
    const found = text.indexOf(mark, from);
    if (found === -1) throw broken("it is cut short");
    return found;
  };
  const add = (found: string) => {
    const inner = open.at(-1);
    if (inner && inner !== root) inner.text += found;
    else if (found.trim() !== "") throw broken("text stands outside of its root");
  };
  const close = (name: string) => {
    const inner = open.pop();
    const outer = open.at(-1);
    if (!inner || !outer || inner.name !== name) throw broken("an element ends that has not begun");
    put(outer.parts, name, contentOf(inner));
  };

  while (at < text.length) {
    const next = text.indexOf("<", at);
    add(decode(text.slice(at, next === -1 ? undefined : next)));
    if (next === -1) break;
    if (text.startsWith("<!--", next)) at = find("-->", next + 4) + 3;
    else if (text.startsWith("<?", next)) at = find("?>", next) + 2;
    else if (text.startsWith("<![CDATA[", next)) {
      const end = find("]]>", next);
      add(text.slice(next + 9, end));
      at = end + 3;
    } else if (text.startsWith("<!", next)) {
      at = find(">", next) + 1;
      if (text.slice(next, at).includes("[")) throw broken("it declares entities of its own");
    } else if (text[next + 1] === "/") {
      const end = find(">", next);
      close(text.slice(next + 2, end).trimEnd());
      at = end + 1;
    } else {
      if (open.length === 1 && root.parts.size > 0) throw broken("it has two roots");
      if (open.length > maxDepth) throw broken(`it is nested deeper than ${maxDepth} levels`);
      if (++elements > maxElements) throw broken(`it has more than ${maxElements} elements`);
      const { name, parts, end, isEmpty } = readTag(text, next);
      open.push({ name, parts, text: "" });
      if (isEmpty) close(name);
      at = end;
    }
  }
  if (open.length !== 1 || root.parts.size === 0) throw broken("it is cut short");
  return Object.fromEntries(root.parts);
}

const openElement = (name: string): Open => ({ name, parts: new Map(), text: "" });

const namePart = /[^\s<>/=&"'!?]+/y;
const attribute = /\s+([^\s<>/=&"'!?]+)\s*=\s*(?:"([^"<]*)"|'([^'<]*)')/y;
const tagEnd = /\s*(\/?)>/y;

function readTag(text: string, start: number) {
  const name = matchAt(namePart, text, start + 1)?.[0];
  if (name === undefined) throw broken("an element has no name");
  const parts = new Map<string, PlainValue>();
  let at = namePart.lastIndex;
  for (let found = matchAt(attribute, text, at); found; found = matchAt(attribute, text, at)) {
    const key = `@${found[1]}`;
    if (parts.has(key)) throw broken("an attribute stands twice");
    parts.set(key, decode((found[2] ?? found[3] ?? "").replace(/[\n\t]/g, " ")));
    at = attribute.lastIndex;
  }
  const closing = matchAt(tagEnd, text, at);
  if (!closing) throw broken("an element does not end");
  return { name, parts, end: tagEnd.lastIndex, isEmpty: closing[1] === "/" };
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

/** The value of an element: a text that is beside nothing else is a text alone. */
function contentOf({ parts, text }: Open): PlainValue {
  const trimmed = text.trim();
  if (parts.size === 0) return trimmed === "" ? null : trimmed;
  if (trimmed !== "") put(parts, "#text", trimmed);
  return Object.fromEntries(parts);
}

function put(parts: Map<string, PlainValue>, name: string, value: PlainValue): void {
  const known = parts.get(name);
  if (!parts.has(name)) parts.set(name, value);
  else if (Array.isArray(known)) known.push(value);
  else parts.set(name, [known, value]);
}

const named: Readonly<Record<string, string>> = {
  ...{ amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" },
};

function decode(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(/&(#x[\da-f]{1,6}|#\d{1,7}|\w*)(;?)/gi, (_, what: string, end: string) => {
    const code = /^#x/i.test(what) ? Number.parseInt(what.slice(2), 16) : Number(what.slice(1));
    const isCode = what.startsWith("#") && code > 0 && code <= 0x10ffff;
    const found = Object.hasOwn(named, what) ? named[what] : undefined;
    if (end === "" || (found === undefined && !isCode)) throw broken("an entity is not known");
    return found ?? String.fromCodePoint(code);
  });
}

/** Answers are read as UTF-8: what is lost by that is no text. */
function refuseOtherEncodings(text: string): void {
  const [, encoding = "utf-8"] = /^<\?xml[^>]*\sencoding\s*=\s*["']([\w-]+)/.exec(text) ?? [];
  if (!/^(?:utf-?8|us-ascii)$/i.test(encoding) && text.includes("\uFFFD"))
    throw broken(`it is written in ${encoding}`);
}

const broken = (problem: string) =>
  new ConnectorError("RESPONSE_INVALID", { reason: `the XML cannot be read: ${problem}` });
