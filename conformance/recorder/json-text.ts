/**
 * Edits inside the strings and numbers of a JSON text that leave every other byte as it was:
 * spaces, digits, escapes, order.
 */
import type { Edit } from "./edits.ts";

export interface JsonLeaf {
  readonly kind: "string" | "number" | "key";
  /** A string without its escapes; a number as it is written. */
  readonly text: string;
  /** Names and indices that lead to it; of a key, to its value. */
  readonly path: readonly (string | number)[];
}

interface NestingLevel {
  /** -1 in an object. */
  index: number;
  name: string;
}

const tokens = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|[{}[\],:]|true|false|null/gs;

/**
 * Edits of the JSON text from those of its leaves. A number may only be replaced as a whole: by a
 * number, or by a string.
 * @param json valid JSON
 * @param find edits of a leaf, merged, at positions in `leaf.text`
 */
export function jsonEdits(json: string, find: (leaf: JsonLeaf) => readonly Edit[]): Edit[] {
  const levels: NestingLevel[] = [];
  const edits: Edit[] = [];
  let isKeyNext = false;
  for (const { 0: token, index: at } of json.matchAll(tokens)) {
    const level = levels.at(-1);
    if (token === "{") {
      levels.push({ index: -1, name: "" });
      isKeyNext = true;
    } else if (token === "[") {
      levels.push({ index: 0, name: "" });
      isKeyNext = false;
    } else if (token === "}" || token === "]") {
      levels.pop();
      isKeyNext = false;
    } else if (token === ",") {
      if (level && level.index >= 0) level.index++;
      isKeyNext = level !== undefined && level.index < 0;
    } else if (token === ":") {
      isKeyNext = false;
    } else if (token.startsWith('"')) {
      const text = String(JSON.parse(token));
      if (isKeyNext && level) level.name = text;
      const found = find({ kind: isKeyNext ? "key" : "string", text, path: pathOf(levels) });
      if (found.length > 0) edits.push(...insideString(token, at, found));
    } else if (/^[-\d]/.test(token)) {
      const [edit] = find({ kind: "number", text: token, path: pathOf(levels) });
      if (edit) edits.push({ start: at, end: at + token.length, text: asJson(edit.text) });
    }
  }
  return edits;
}

const pathOf = (levels: readonly NestingLevel[]) =>
  levels.map(({ index, name }) => (index < 0 ? name : index));

const asJson = (text: string) =>
  /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/.test(text) ? text : JSON.stringify(text);

/** Positions in the decoded string become positions in the token. */
function insideString(token: string, at: number, found: readonly Edit[]): Edit[] {
  const position = positions(token);
  return found.map(({ start, end, text }) => ({
    start: at + (position[start] ?? token.length - 1),
    end: at + (position[end] ?? token.length - 1),
    text: JSON.stringify(text).slice(1, -1),
  }));
}

/**
 * Where each UTF-16 unit of the decoded string begins in the token; the last one is the closing
 * quote.
 */
function positions(token: string): number[] {
  const starts: number[] = [];
  for (let at = 1; at < token.length - 1; ) {
    starts.push(at);
    if (token[at] !== "\\") at++;
    else at += token[at + 1] === "u" ? 6 : 2;
  }
  starts.push(token.length - 1);
  return starts;
}
