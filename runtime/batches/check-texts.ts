/** The look over texts, JSON, numbers as text and bytes that lie one after another. */
import { isAscii, isUtf8 } from "node:buffer";
import type { TextValues } from "../contract/batch.ts";
import { notStrictJson, strictJsonEnd } from "../wire/strict-json.ts";
import { isNull, refuse } from "./refuse.ts";

export interface Texts {
  readonly offsets: Uint32Array;
  readonly bytes: Buffer;
  readonly rowCount: number;
  readonly validity: Uint8Array | undefined;
}

/** @throws CONNECTOR_PROTOCOL when they are not what their encoding says */
export function checkTexts(texts: Texts, encoding: TextValues["encoding"]): void {
  checkOffsets(texts);
  if (encoding === "binary") return;
  checkCharacters(texts);
  if (encoding === "json") checkJson(texts);
  else if (encoding === "number") checkNumbers(texts);
}

function checkOffsets({ offsets, bytes, rowCount, validity }: Texts): void {
  let before = 0;
  if (offsets[0] !== 0 || offsets[rowCount] !== bytes.length)
    throw refuse("has texts that are not where it says");
  for (let row = 1; row <= rowCount; row++) {
    const end = offsets[row] as number;
    if (end < before) throw refuse("has texts that are not where it says");
    before = end;
  }
  if (!validity) return;
  for (let row = 0; row < rowCount; row++)
    if (isNull(validity, row) && offsets[row] !== offsets[row + 1])
      throw refuse("has a value under a null");
}

/** UTF-8 as a whole, and no text begins inside of a character. */
function checkCharacters({ offsets, bytes, rowCount }: Texts): void {
  if (isAscii(bytes)) return;
  if (!isUtf8(bytes)) throw refuse("has a text that is not UTF-8");
  for (let row = 1; row < rowCount; row++)
    if (((bytes[offsets[row] as number] as number) & 0xc0) === 0x80)
      throw refuse("has a text that is not UTF-8");
}

function checkJson({ offsets, bytes, rowCount, validity }: Texts): void {
  for (let row = 0; row < rowCount; row++) {
    const from = offsets[row] as number;
    const end = offsets[row + 1] as number;
    if (validity && isNull(validity, row)) continue;
    // A number has no end of its own, and would be looked for in all that stands behind it.
    const first = bytes[from] as number;
    const isValue =
      first === minus || (first >= zero && first <= nine)
        ? isNumber(bytes, from, end)
        : from < end && strictJsonEnd(bytes, from) === end;
    if (!isValue) throw notStrictJson;
  }
}

const minus = 0x2d;
const plus = 0x2b;
const point = 0x2e;
const zero = 0x30;
const nine = 0x39;

function checkNumbers({ offsets, bytes, rowCount, validity }: Texts): void {
  for (let row = 0; row < rowCount; row++) {
    if (validity && isNull(validity, row)) continue;
    const from = offsets[row] as number;
    const end = offsets[row + 1] as number;
    if (!isNumber(bytes, from, end) && !isNoNumber(bytes, from, end))
      throw refuse("has a number that is none");
  }
}

/** RFC 8259 section 6. */
function isNumber(bytes: Buffer, from: number, end: number): boolean {
  let at = from < end && bytes[from] === minus ? from + 1 : from;
  const digits = at;
  at = digitsEnd(bytes, at, end);
  if (at === digits || (bytes[digits] === zero && at > digits + 1)) return false;
  if (at < end && bytes[at] === point) {
    const fraction = at + 1;
    at = digitsEnd(bytes, fraction, end);
    if (at === fraction) return false;
  }
  if (at < end && ((bytes[at] as number) | 0x20) === 0x65) {
    at++;
    if (at < end && (bytes[at] === plus || bytes[at] === minus)) at++;
    const exponent = at;
    at = digitsEnd(bytes, exponent, end);
    if (at === exponent) return false;
  }
  return at === end;
}

function digitsEnd(bytes: Buffer, from: number, end: number): number {
  let at = from;
  while (at < end && (bytes[at] as number) >= zero && (bytes[at] as number) <= nine) at++;
  return at;
}

/** The values of a double that JSON cannot say. */
const noNumbers = new Set(["NaN", "Infinity", "-Infinity"]);
const isNoNumber = (bytes: Buffer, from: number, end: number) =>
  end - from <= 9 && noNumbers.has(bytes.toString("latin1", from, end));
