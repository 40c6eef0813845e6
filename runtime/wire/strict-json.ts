/**
 * Strict JSON in bytes, looked at without becoming values: RFC 8259 without white space, and with
 * only the escapes that JSON.stringify writes. A text has one form, in which the output filter
 * knows it again.
 */
import { budgets } from "../contract/budgets.ts";

/** Thrown, and known by identity: it says nothing, and costs no trace. */
export const notStrictJson = Symbol("not strict JSON");

/** Deeper rows are refused by the writer already. @see maxDepth of exact-json.ts */
const maxNesting = budgets.rows.depth;
/** The brackets that will close the row that is being looked at. */
const closers = new Uint8Array(maxNesting);

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

/**
 * The position behind the value that begins at `from`. It may look beyond the text that the value
 * stands in, and then gives a position there.
 * @throws notStrictJson
 */
export function strictJsonEnd(bytes: Buffer, from: number): number {
  let at = from;
  let depth = 0;
  for (;;) {
    // A value begins here.
    const byte = bytes[at] as number;
    if (byte === quote) at = stringEnd(bytes, at);
    else if (byte === openBrace || byte === openBracket) {
      if (depth === maxNesting) throw notStrictJson;
      // The two codes of "{" and "}", "[" and "]" differ by 2.
      closers[depth++] = byte + 2;
      at++;
      if (bytes[at] !== byte + 2) {
        if (byte === openBrace) at = nameEnd(bytes, at);
        continue;
      }
    } else if (byte === minus || (byte >= zero && byte <= nine)) at = numberEnd(bytes, at);
    else at = wordEnd(bytes, at);
    // A value has ended, or an empty object or list is about to.
    for (;;) {
      if (depth === 0) return at;
      const next = bytes[at];
      const closer = closers[depth - 1] as number;
      if (next === comma) {
        at = closer === closeBrace ? nameEnd(bytes, at + 1) : at + 1;
        break;
      }
      if (next !== closer) throw notStrictJson;
      at++;
      depth--;
    }
  }
}

/** The position behind the name that begins at `at`, and its colon. */
function nameEnd(bytes: Buffer, at: number): number {
  if (bytes[at] !== quote) throw notStrictJson;
  const end = stringEnd(bytes, at);
  if (bytes[end] !== colon) throw notStrictJson;
  return end + 1;
}

/** The position behind the string that begins at `from`. */
function stringEnd(bytes: Buffer, from: number): number {
  let at = from + 1;
  for (;;) {
    let byte = bytes[at] as number;
    while (byte !== quote && byte !== backslash && byte >= 0x20) byte = bytes[++at] as number;
    if (byte === quote) return at + 1;
    if (byte !== backslash) throw notStrictJson;
    at = escapeEnd(bytes, at);
  }
}

/** Only what JSON.stringify escapes may be escaped, and as it does. */
function escapeEnd(bytes: Buffer, at: number): number {
  if (isEscaped[bytes[at + 1] as number] === 1) return at + 2;
  const code = bytes.toString("latin1", at, at + 6);
  if (!/^\\u(?:00[01][0-9a-f]|d[89a-f][0-9a-f]{2})$/.test(code)) throw notStrictJson;
  return at + 6;
}

const isEscaped = tableOf('"\\bfnrt');

function tableOf(characters: string): Uint8Array {
  const table = new Uint8Array(256);
  for (const byte of Buffer.from(characters)) table[byte] = 1;
  return table;
}

function numberEnd(bytes: Buffer, from: number): number {
  let at = bytes[from] === minus ? from + 1 : from;
  at = bytes[at] === zero ? at + 1 : digitsEnd(bytes, at);
  if (bytes[at] === point) at = digitsEnd(bytes, at + 1);
  if (((bytes[at] as number) | 0x20) === 0x65) {
    const sign = bytes[++at];
    at = digitsEnd(bytes, sign === minus || sign === 0x2b ? at + 1 : at);
  }
  return at;
}

/** The position behind the digits from `from` on, of which there is one at least. */
function digitsEnd(bytes: Buffer, from: number): number {
  let at = from;
  while ((bytes[at] as number) >= zero && (bytes[at] as number) <= nine) at++;
  if (at === from) throw notStrictJson;
  return at;
}

const words = ["null", "true", "false"].map((word) => Buffer.from(word));

function wordEnd(bytes: Buffer, at: number): number {
  for (const word of words) {
    let length = 0;
    while (length < word.length && bytes[at + length] === word[length]) length++;
    if (length === word.length) return at + length;
  }
  throw notStrictJson;
}
