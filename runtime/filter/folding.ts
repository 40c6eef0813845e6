/**
 * Takes escapes off text, one in another and mixed, as a provider's echo has them. What comes out
 * is only searched, never passed on. A secret goes through the same, so that it does not matter
 * what its own characters look like.
 */

import {
  decode,
  decoded,
  decodedLength,
  equals,
  markNumber,
  mayBegin,
  needles,
} from "./escapes.ts";

/** Text without its escapes. */
export interface Folded {
  readonly bytes: Uint8Array;
  /** For each byte where it stood in the text before. */
  readonly starts: Uint32Array;
}

/** Escapes that stand in escapes of another kind; JSON in JSON and the like count once. */
const maxRounds = 4;

/**
 * The text with all escapes taken off; undefined when there are none. Of quoted-printable only when
 * asked for: "page=10" looks like it.
 */
export function fold(bytes: Uint8Array, withQuotedPrintable: boolean): Folded | undefined {
  let folded: Folded | undefined;
  for (let round = 0; round < maxRounds; round++) {
    const next = foldOnce(folded?.bytes ?? bytes, withQuotedPrintable);
    if (next === undefined) break;
    const before = folded?.starts;
    if (before)
      for (let at = 0; at < next.starts.length; at++)
        next.starts[at] = before[next.starts[at] as number] as number;
    folded = next;
  }
  return folded;
}

/** As {@link fold}, of a text. */
export function foldText(text: string, withQuotedPrintable = false): string {
  const folded = fold(Buffer.from(text), withQuotedPrintable);
  return folded === undefined ? text : Buffer.from(folded.bytes).toString();
}

/** Bytes that make an escape worth a look: those of secrets, without their escapes. */
export type Alphabet = Uint8Array;

/** Texts one behind another: that of row n from `offsets[n]` to `offsets[n + 1]`. */
export interface TextRows {
  readonly bytes: Buffer;
  readonly offsets: Uint32Array;
  readonly rowCount: number;
}

/** The alphabet of no secret: of their encodings it has what URLs escape of base64. */
export function createAlphabet(): Alphabet {
  const alphabet = new Uint8Array(256);
  for (const byte of Buffer.from("+/=")) alphabet[byte] = 1;
  return alphabet;
}

/** Adds the bytes of a secret, and those that its escapes stand for. */
export function addToAlphabet(alphabet: Alphabet, value: string): void {
  for (const text of new Set([value, foldText(value), foldText(value, true)]))
    for (const byte of Buffer.from(text)) alphabet[byte] = 1;
}

/**
 * The pieces of the text in which a secret may stand with escapes, each with so many bytes around,
 * without their escapes: once with quoted-printable, once without, and neither for most of all
 * text. For a search that is not to read all of a long text again.
 */
export function foldedPieces(bytes: Buffer, alphabet: Alphabet, around: number): Buffer[] {
  if (!needles.some((needle) => bytes.includes(needle))) return [];
  return folded([bytes], alphabet, around);
}

/** As {@link foldedPieces}, of texts one behind another: no piece is of two of them. */
export function foldedTexts(texts: TextRows, alphabet: Alphabet, around: number): Buffer[] {
  if (!needles.some((needle) => texts.bytes.includes(needle))) return [];
  return folded(textsWithEscapes(texts, alphabet), alphabet, around);
}

/** The texts in which {@link escapePlaces} finds something, or may. */
function* textsWithEscapes(
  { bytes, offsets }: TextRows,
  alphabet: Alphabet,
): Generator<Buffer, void, undefined> {
  const last = bytes.length - 1;
  let row = 0;
  for (let at = 0; at < last; at++) {
    while (at < last && markNumber[bytes[at] as number] === 0) at++;
    if (at >= last || !mayBegin(bytes[at] as number, bytes[at + 1] as number)) continue;
    const end = decode(bytes, at, true);
    if (end <= at + 1) continue;
    while ((offsets[row + 1] as number) <= at) row++;
    const rowEnd = offsets[row + 1] as number;
    // One that goes on in the next text may be another without it.
    if (end > rowEnd || isSuspect(bytes, at, alphabet)) {
      yield bytes.subarray(offsets[row], rowEnd);
      at = rowEnd - 1;
    } else at = end - 1;
  }
}

function folded(texts: Iterable<Buffer>, alphabet: Alphabet, around: number): Buffer[] {
  const parts: [escapes: Buffer[], quotedPrintable: Buffer[]] = [[], []];
  for (const text of texts) {
    const [escapes, quotedPrintable] = escapePlaces(text, alphabet);
    addPieces(parts[0], text, escapes, around);
    addPieces(parts[1], text, quotedPrintable, around);
  }
  return parts.flatMap((pieces, index) => {
    if (pieces.length === 0) return [];
    const bytes = fold(Buffer.concat(pieces), index === 1)?.bytes;
    return bytes ? [Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)] : [];
  });
}

function addPieces(
  parts: Buffer[],
  bytes: Buffer,
  places: readonly number[],
  around: number,
): void {
  for (let index = 0; index < places.length; ) {
    const start = Math.max(0, (places[index] as number) - around);
    let end = (places[index] as number) + around;
    while (index < places.length && (places[index] as number) - around <= end)
      end = (places[index++] as number) + around;
    // A zero byte between two pieces, which no secret has.
    parts.push(bytes.subarray(start, end), separator);
  }
}

const separator = Buffer.from([0]);

/**
 * Where escapes stand for something that a secret has, and no view of one has already; those of
 * quoted-printable apart.
 */
function escapePlaces(bytes: Uint8Array, alphabet: Alphabet): [number[], number[]] {
  const escapes: number[] = [];
  const quotedPrintable: number[] = [];
  const last = bytes.length - 1;
  for (let at = 0; at < last; at++) {
    while (at < last && markNumber[bytes[at] as number] === 0) at++;
    const byte = bytes[at] as number;
    if (at >= last || !mayBegin(byte, bytes[at + 1] as number)) continue;
    const end = decode(bytes, at, true);
    if (end <= at + 1) continue;
    if (isSuspect(bytes, at, alphabet)) (byte === equals ? quotedPrintable : escapes).push(at);
    at = end - 1;
  }
  return [escapes, quotedPrintable];
}

/** Whether what was decoded last may be of a secret, or begin an escape of another kind. */
function isSuspect(bytes: Uint8Array, at: number, alphabet: Alphabet): boolean {
  const mark = bytes[at];
  const value = decoded[0] as number;
  if (decodedLength === 0) return true;
  // Nobody writes =41 for a letter, and "page=41" is in every other URL.
  if (mark === equals && value > 0x20 && value < 0x7f && value !== equals) return false;
  return alphabet[value] === 1 || (markNumber[value] !== 0 && value !== mark);
}

function foldOnce(bytes: Uint8Array, withQuotedPrintable: boolean): Folded | undefined {
  const out = new Uint8Array(bytes.length);
  const starts = new Uint32Array(bytes.length);
  let length = 0;
  let isChanged = false;
  for (let at = 0; at < bytes.length; ) {
    const byte = bytes[at] as number;
    const end = markNumber[byte] !== 0 ? decode(bytes, at, withQuotedPrintable) : at;
    if (end <= at + 1) {
      out[length] = byte;
      starts[length++] = at++;
      continue;
    }
    isChanged = true;
    for (let index = 0; index < decodedLength; index++) {
      out[length] = decoded[index] as number;
      starts[length++] = at;
    }
    at = end;
  }
  return isChanged
    ? { bytes: out.subarray(0, length), starts: starts.subarray(0, length) }
    : undefined;
}
