import type { TextValues } from "../../contract/batch.ts";

/** Memory for the texts of a batch, which is used again for the next one. */
export interface TextHeap {
  /**
   * The texts of so many rows as UTF-8. Half of a surrogate pair, which UTF-8 cannot hold, becomes
   * U+FFFD.
   * @param offsets where each text ends in `text`, in characters; they may be changed to bytes
   */
  write(text: string, offsets: Uint32Array, rows: number): Pick<TextValues, "offsets" | "bytes">;
  /** Forgets what was written. */
  clear(): void;
}

const firstBytes = 64 * 1024;
/** Memory beyond this is not kept. */
const keptBytes = 4 * 1024 * 1024;

export function createTextHeap(): TextHeap {
  let memory = Buffer.alloc(0);
  let used = 0;
  return {
    write(text, offsets, rows) {
      // A character takes three bytes at most.
      if (memory.length - used < text.length * 3) {
        memory = Buffer.allocUnsafeSlow(Math.max(firstBytes, memory.length, text.length * 3));
        used = 0;
      }
      const start = used;
      used += memory.write(text, start, "utf8");
      // Each character takes a byte at least: as many bytes as characters are ASCII.
      if (used - start !== text.length) {
        const whole = wellFormed(text, offsets, rows);
        if (whole !== text) used = start + memory.write(whole, start, "utf8");
        toByteOffsets(whole, offsets, rows);
      }
      return { offsets: offsets.subarray(0, rows + 1), bytes: memory.subarray(start, used) };
    },
    clear() {
      used = 0;
      if (memory.length > keptBytes) memory = Buffer.alloc(0);
    },
  };
}

const isLowHalf = (code: number) => code >= 0xdc00 && code < 0xe000;

/** The text with each of its parts well-formed; the places of the parts stay as they are. */
function wellFormed(text: string, offsets: Uint32Array, rows: number): string {
  let isWhole = text.isWellFormed();
  // Halves at the end of one text and at the beginning of the next are no pair.
  for (let row = 1; row < rows && isWhole; row++)
    isWhole = !isLowHalf(text.charCodeAt(offsets[row] as number));
  if (isWhole) return text;
  let mended = "";
  for (let row = 0; row < rows; row++)
    mended += text.slice(offsets[row], offsets[row + 1]).toWellFormed();
  return mended;
}

/** Turns places in a well-formed text into places in its UTF-8. */
function toByteOffsets(text: string, offsets: Uint32Array, rows: number): void {
  let at = 0;
  let bytes = 0;
  for (let row = 1; row <= rows; row++) {
    const end = offsets[row] as number;
    for (; at < end; at++) {
      const code = text.charCodeAt(at);
      // Both halves of a pair take two.
      if (code < 0x80) bytes++;
      else if (code < 0x800 || (code >= 0xd800 && code < 0xe000)) bytes += 2;
      else bytes += 3;
    }
    offsets[row] = bytes;
  }
}
