/** Texts of columns as JSON: UTF-8 in quotes, JSON texts as they are, bytes in base64. */
import type { TextValues } from "../contract/batch.ts";
import { copy, copySource, type LineBytes, putAscii } from "./line-bytes.ts";
import type { ValueTexts } from "./value-texts.ts";

/** How the texts of a column are written. */
export function textValues(
  { encoding, offsets, bytes: given }: TextValues,
  rowCount: number,
): ValueTexts {
  const bytes = given.subarray(0, offsets[rowCount]);
  const source = copySource(bytes);
  const from = (row: number) => offsets[row] as number;
  const end = (row: number) => offsets[row + 1] as number;
  switch (encoding) {
    case "json":
      return {
        bytes: bytes.length,
        write: (into, at, row) => copy(into, at, source, from(row), end(row)),
      };
    case "number":
      return {
        bytes: bytes.length,
        // NaN and Infinity end in a letter.
        write: (into, at, row) =>
          (bytes[end(row) - 1] as number) > 0x39 ? -1 : copy(into, at, source, from(row), end(row)),
      };
    case "binary":
      return {
        bytes: Math.ceil(bytes.length / 3) * 4 + rowCount * 6,
        write(into, at, row) {
          const { buffer, byteOffset } = bytes;
          const value = Buffer.from(buffer, byteOffset + from(row), end(row) - from(row));
          return putAscii(into, at, `"${value.toString("base64")}"`);
        },
      };
    case "utf8": {
      const escapedCount = countEscaped(bytes);
      const whole = bytes.length + rowCount * 2;
      if (escapedCount > 0)
        return {
          bytes: whole + escapedCount * 5,
          write: (into, at, row) => putEscaped(into, at, bytes, from(row), end(row)),
        };
      return {
        bytes: whole,
        write(into, start, row) {
          into.bytes[start] = quote;
          const at = copy(into, start + 1, source, from(row), end(row));
          into.bytes[at] = quote;
          return at + 1;
        },
      };
    }
  }
}

const quote = 0x22;
const backslash = 0x5c;

/** How many bytes JSON escapes. */
function countEscaped(bytes: Uint8Array): number {
  if (!mayHaveEscaped(bytes)) return 0;
  let count = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (byte < 0x20 || byte === quote || byte === backslash) count++;
  }
  return count;
}

function mayHaveEscaped(bytes: Uint8Array): boolean {
  const { buffer, byteOffset, length } = bytes;
  if (bytes.includes(quote) || bytes.includes(backslash) || byteOffset % 4 !== 0) return true;
  const words = new Int32Array(buffer, byteOffset, length >> 2);
  // The highest bit of each byte is set where the byte is below 0x20.
  for (let at = 0; at < words.length; at++) {
    const word = words[at] as number;
    if (((word - 0x20202020) & ~word & 0x80808080) !== 0) return true;
  }
  for (let at = words.length * 4; at < length; at++) if ((bytes[at] as number) < 0x20) return true;
  return false;
}

const hex = Buffer.from("0123456789abcdef");
/** The letter behind the backslash, for what JSON escapes by one letter; 0: none. */
const shortEscapes = new Uint8Array(256);
for (const [character, letter] of Object.entries({
  '"': '"',
  "\\": "\\",
  "\b": "b",
  "\f": "f",
  "\n": "n",
  "\r": "r",
  "\t": "t",
}))
  shortEscapes[character.charCodeAt(0)] = letter.charCodeAt(0);

/** UTF-8 as a JSON string, escaped as JSON.stringify does. */
function putEscaped(
  into: LineBytes,
  start: number,
  from: Uint8Array,
  first: number,
  end: number,
): number {
  const { bytes } = into;
  let at = start;
  bytes[at++] = quote;
  for (let index = first; index < end; index++) {
    const byte = from[index] as number;
    if (byte >= 0x20 && byte !== quote && byte !== backslash) {
      bytes[at++] = byte;
      continue;
    }
    bytes[at++] = backslash;
    const letter = shortEscapes[byte] as number;
    if (letter !== 0) {
      bytes[at++] = letter;
      continue;
    }
    bytes[at++] = 0x75;
    bytes[at++] = 0x30;
    bytes[at++] = 0x30;
    bytes[at++] = hex[byte >> 4] as number;
    bytes[at++] = hex[byte & 15] as number;
  }
  bytes[at++] = quote;
  return at;
}
