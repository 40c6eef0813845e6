/** JSON texts of the server in the one form that JSON.stringify writes. */
import { ConnectorError } from "svc-connectors";
import type { TextBytes } from "./texts.ts";

/** Arrays and objects inside of each other, as the writer of rows has it. */
const maxDepth = 200;

const quote = 0x22;
const backslash = 0x5c;
/** The letters behind a backslash that JSON.stringify writes too, but for u. */
const shortEscapes = new Uint8Array(256);
for (const letter of Buffer.from('"\\bfnrt')) shortEscapes[letter] = 1;

/**
 * Writes a JSON text that the server has checked: without white space, and with the escapes of
 * JSON.stringify alone. Numbers keep every digit.
 * @throws RECORD_INVALID
 */
export function writeJson(out: TextBytes, from: Buffer, start: number, end: number): void {
  out.reserve(end - start); // it never becomes longer
  const { bytes } = out;
  let to = out.length;
  let depth = 0;
  for (let at = start; at < end; ) {
    const byte = from[at] as number;
    if (byte === quote) {
      const close = stringEnd(from, at, end);
      if (close > 0) while (at < close) bytes[to++] = from[at++] as number;
      else {
        const [text, next] = respelled(from, at, end);
        to += bytes.write(text, to, "utf8");
        at = next;
      }
      continue;
    }
    at++;
    if (byte <= 0x20) continue;
    bytes[to++] = byte;
    // "[" and "{", "]" and "}" differ by one bit.
    if ((byte & 0xdf) === 0x5b) {
      if (++depth > maxDepth)
        throw new ConnectorError("RECORD_INVALID", {
          problem: `it is nested deeper than ${maxDepth} levels`,
        });
    } else if ((byte & 0xdf) === 0x5d) depth--;
  }
  out.length = to;
}

/**
 * The place behind the string that begins at `start`; 0 when it has an escape that has to be looked
 * at.
 */
function stringEnd(from: Buffer, start: number, end: number): number {
  let at = start + 1;
  while (at < end) {
    const byte = from[at++] as number;
    if (byte === quote) return at;
    if (byte === backslash && shortEscapes[from[at++] as number] === 0) return 0;
  }
  return end;
}

/** The string that begins at `start` as JSON.stringify writes it, and the place behind it. */
function respelled(from: Buffer, start: number, end: number): [text: string, next: number] {
  let at = start + 1;
  while (at < end && from[at] !== quote) at += from[at] === backslash ? 2 : 1;
  const next = Math.min(at + 1, end);
  return [JSON.stringify(JSON.parse(from.toString("utf8", start, next))), next];
}
