/**
 * The proof that what a worker sent as rows is rows: strict JSON in UTF-8, one object a line, and
 * behind it at most one note of the only form there is. A worker may be forged, and whoever reads
 * the output next must not be the first to parse it.
 */
import { isUtf8 } from "node:buffer";
import { budgets } from "../contract/budgets.ts";
import { ConnectorError } from "../contract/errors.ts";
import { isJsonObject } from "../contract/json.ts";
import { maxNotesPerRow, noteOf } from "./row-notes.ts";

/**
 * Checks that the bytes are `rowCount` lines, each one JSON object (RFC 8259, without white space)
 * with or without notes.
 * @returns whether any has notes
 * @throws CONNECTOR_PROTOCOL
 */
export function checkRowLines(lines: Buffer, rowCount: number): boolean {
  let count = 0;
  let hasNotes = false;
  // Every loop below ends at a line break at the latest: it may stand nowhere inside of a value.
  if (lines.length > 0 && lines[lines.length - 1] !== lineBreak) throw notRows();
  for (let at = 0; at < lines.length; at++) {
    at = objectEnd(lines, at);
    if (lines[at] === tab) {
      hasNotes = true;
      const end = objectEnd(lines, at + 1);
      if (!isNotes(lines.toString("utf8", at + 1, end))) throw notRows();
      at = end;
    }
    if (lines[at] !== lineBreak) throw notRows();
    count++;
  }
  if (count !== rowCount || !isUtf8(lines)) throw notRows();
  return hasNotes;
}

const notRows = () => new ConnectorError("CONNECTOR_PROTOCOL", { problem: "a line is not a row" });

/** Deeper rows are refused by the writer already. @see maxDepth of exact-json.ts */
const maxNesting = budgets.rows.depth;
/** The brackets that will close the row that is being looked at. */
const closers = new Uint8Array(maxNesting);

const lineBreak = 0x0a;
const tab = 0x09;
const quote = 0x22;
const comma = 0x2c;
const minus = 0x2d;
const point = 0x2e;
const zero = 0x30;
const nine = 0x39;
const colon = 0x3a;
const openBracket = 0x5b;
const backslash = 0x5c;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** The position behind the object that begins at `at`. */
function objectEnd(lines: Buffer, from: number): number {
  if (lines[from] !== openBrace) throw notRows();
  let at = from;
  let depth = 0;
  for (;;) {
    // A value begins here.
    const byte = lines[at] as number;
    if (byte === quote) at = stringEnd(lines, at);
    else if (byte === openBrace || byte === openBracket) {
      if (depth === maxNesting) throw notRows();
      // The two codes of "{" and "}", "[" and "]" differ by 2.
      closers[depth++] = byte + 2;
      at++;
      if (lines[at] !== byte + 2) {
        if (byte === openBrace) at = nameEnd(lines, at);
        continue;
      }
    } else if (byte === minus || (byte >= zero && byte <= nine)) at = numberEnd(lines, at);
    else at = wordEnd(lines, at);
    // A value has ended, or an empty object or list is about to.
    for (;;) {
      const next = lines[at];
      const closer = closers[depth - 1] as number;
      if (next === comma) {
        at = closer === closeBrace ? nameEnd(lines, at + 1) : at + 1;
        break;
      }
      if (next !== closer) throw notRows();
      at++;
      if (--depth === 0) return at;
    }
  }
}

/** The position behind the name that begins at `at`, and its colon. */
function nameEnd(lines: Buffer, at: number): number {
  if (lines[at] !== quote) throw notRows();
  const end = stringEnd(lines, at);
  if (lines[end] !== colon) throw notRows();
  return end + 1;
}

/** The position behind the string that begins at `from`. */
function stringEnd(lines: Buffer, from: number): number {
  let at = from + 1;
  for (;;) {
    let byte = lines[at] as number;
    while (byte !== quote && byte !== backslash && byte >= 0x20) byte = lines[++at] as number;
    if (byte === quote) return at + 1;
    if (byte !== backslash) throw notRows();
    at = escapeEnd(lines, at);
  }
}

/**
 * Only what JSON.stringify escapes may be escaped, and as it does: a text has one form, in which
 * the output filter knows it again.
 */
function escapeEnd(lines: Buffer, at: number): number {
  if (isEscaped[lines[at + 1] as number] === 1) return at + 2;
  const code = lines.toString("latin1", at, at + 6);
  if (!/^\\u(?:00[01][0-9a-f]|d[89a-f][0-9a-f]{2})$/.test(code)) throw notRows();
  return at + 6;
}

const isEscaped = tableOf('"\\bfnrt');

function tableOf(characters: string): Uint8Array {
  const table = new Uint8Array(256);
  for (const byte of Buffer.from(characters)) table[byte] = 1;
  return table;
}

function numberEnd(lines: Buffer, from: number): number {
  let at = lines[from] === minus ? from + 1 : from;
  at = lines[at] === zero ? at + 1 : digitsEnd(lines, at);
  if (lines[at] === point) at = digitsEnd(lines, at + 1);
  if (((lines[at] as number) | 0x20) === 0x65) {
    const sign = lines[++at];
    at = digitsEnd(lines, sign === minus || sign === 0x2b ? at + 1 : at);
  }
  return at;
}

/** The position behind the digits from `from` on, of which there is one at least. */
function digitsEnd(lines: Buffer, from: number): number {
  let at = from;
  while ((lines[at] as number) >= zero && (lines[at] as number) <= nine) at++;
  if (at === from) throw notRows();
  return at;
}

const words = ["null", "true", "false"].map((word) => Buffer.from(word));

function wordEnd(lines: Buffer, at: number): number {
  for (const word of words) {
    let length = 0;
    while (length < word.length && lines[at + length] === word[length]) length++;
    if (length === word.length) return at + length;
  }
  throw notRows();
}

function isNotes(text: string): boolean {
  const { changes, ...others } = JSON.parse(text) as { changes?: unknown };
  if (!Array.isArray(changes) || Object.keys(others).length > 0) return false;
  if (changes.length === 0 || changes.length > maxNotesPerRow) return false;
  return changes.every((change) => {
    if (!isJsonObject(change) || typeof change.field !== "string") return false;
    return JSON.stringify(change) === JSON.stringify(noteOf(change.field));
  });
}
