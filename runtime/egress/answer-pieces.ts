/** Large answers in pieces that can be searched for secrets one by one. */
import { setImmediate as eventLoopTurn } from "node:timers/promises";
import type { SecretRegistry } from "../filter/secrets.ts";

/** Looked at in one turn of the event loop: 30 ms, if it has escapes and many secrets. */
const pieceBytes = 1024 * 1024;
/** More than ten characters of a secret take in any encoding. */
const overlapBytes = 64 * 1024;
/** Bytes on both sides of a cut that must be clean; fewer, where secrets stand close together. */
const cleanSides = [4_096, 1_024, 256];

/** Whether the bytes hold a secret. */
export async function holdsSecret(secrets: SecretRegistry, bytes: Buffer): Promise<boolean> {
  for (const [from, to] of answerPieces(bytes, () => false)) {
    if (from > 0) await eventLoopTurn();
    if (secrets.contains(bytes.subarray(from, to + overlapBytes))) return true;
  }
  return false;
}

/**
 * From where to where an answer is looked at in one turn.
 * @param isTaken says of bytes that no cut may go through them
 * @param texts secrets as they stand there, longer ones first: where bytes are taken everywhere, a
 * piece ends behind one of them, and later where there is none
 */
export function* answerPieces(
  bytes: Buffer,
  isTaken: (window: Buffer) => boolean,
  texts: readonly string[] = [],
): Generator<readonly [from: number, to: number]> {
  let from = 0;
  for (let end = pieceBytes; end < bytes.length; end += pieceBytes) {
    const cut = cutBefore(bytes, end, isTaken) ?? cutBehind(bytes, end, texts);
    if (cut === undefined) continue;
    yield [from, cut];
    from = cut;
  }
  yield [from, bytes.length];
}

function cutBefore(
  bytes: Buffer,
  end: number,
  isTaken: (window: Buffer) => boolean,
): number | undefined {
  for (const side of cleanSides)
    for (let at = end; at > end - overlapBytes; at -= side) {
      // A character of UTF-8 stays whole.
      const isInside = ((bytes[at] ?? 0) & 0xc0) === 0x80;
      if (!isInside && !isTaken(bytes.subarray(at - side, at + side))) return at;
    }
  return undefined;
}

function cutBehind(bytes: Buffer, end: number, texts: readonly string[]): number | undefined {
  const last = bytes.subarray(end - overlapBytes, end);
  for (const text of texts) {
    const at = last.lastIndexOf(text);
    if (at >= 0) return end - overlapBytes + at + Buffer.byteLength(text);
  }
  return undefined;
}
