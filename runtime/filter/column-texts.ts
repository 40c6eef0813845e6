/** Values of columns that are no text, written as the texts that JSON has for them. */
import { createLineMemory } from "../batches/line-bytes.ts";
import { valueTexts } from "../batches/value-texts.ts";
import { type Column, isValid } from "../contract/batch.ts";
import type { TextRows } from "./folding.ts";

const quote = 0x22;
const lineBreak = 0x0a;

const memory = createLineMemory();

/**
 * Without quotes, each with a line break behind it: the digits of neighbouring counters are no
 * secret, and one that is cut into numbers is not promised to be found. A null, and what JSON has
 * no text for, is empty. Valid until the next column is written.
 */
export function columnTexts(column: Column, rowCount: number): TextRows {
  const { write, bytes: most } = valueTexts(column, rowCount);
  const out = memory.take(most + rowCount);
  const { bytes } = out;
  const offsets = new Uint32Array(rowCount + 1);
  let at = 0;
  for (let row = 0; row < rowCount; row++) {
    const end = isValid(column, row) ? write(out, at, row) : -1;
    if (end !== -1 && bytes[at] === quote) {
      bytes.copyWithin(at, at + 1, end - 1);
      at = end - 2;
    } else if (end !== -1) at = end;
    if (end !== -1) bytes[at++] = lineBreak;
    offsets[row + 1] = at;
  }
  return { bytes: Buffer.from(bytes.buffer, 0, at), offsets, rowCount };
}

const characters = Buffer.from("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");
const padding = 0x3d;

/** Each text in base64. */
export function base64Texts({ bytes, offsets, rowCount }: TextRows): TextRows {
  const out = Buffer.allocUnsafe(Math.ceil(bytes.length / 3) * 4 + rowCount * 4);
  const ends = new Uint32Array(rowCount + 1);
  let at = 0;
  for (let row = 0; row < rowCount; row++) {
    const end = offsets[row + 1] as number;
    for (let from = offsets[row] as number; from < end; from += 3) {
      const left = end - from;
      const group =
        ((bytes[from] as number) << 16) |
        (left > 1 ? (bytes[from + 1] as number) << 8 : 0) |
        (left > 2 ? (bytes[from + 2] as number) : 0);
      out[at++] = characters[group >> 18] as number;
      out[at++] = characters[(group >> 12) & 63] as number;
      out[at++] = left > 1 ? (characters[(group >> 6) & 63] as number) : padding;
      out[at++] = left > 2 ? (characters[group & 63] as number) : padding;
    }
    ends[row + 1] = at;
  }
  return { bytes: out.subarray(0, at), offsets: ends, rowCount };
}
