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
  let at = start;
  while (at < end) {
    let byte = from[at++] as number;
    if (byte <= 0x20) continue;
    bytes[to++] = byte;
    if (byte === quote) {
      const opening = at - 1;
      const written = to - 1;
      while (at < end) {
        byte = from[at++] as number;
        bytes[to++] = byte;
        if (byte === quote) break;
        if (byte !== backslash) continue;
        const letter = from[at++] as number;
        bytes[to++] = letter;
        if (shortEscapes[letter] === 1) continue;
        // An escape that has to be looked at: the string is written once more.
        const close = stringEnd(from, opening, end);
        const text = from.toString("utf8", opening, close);
        to = written + bytes.write(JSON.stringify(JSON.parse(text)), written, "utf8");
        at = close;
        break;
      }
    } else if ((byte & 0xdf) === 0x5b) {
      // "[" and "{" differ by one bit, and so do "]" and "}".
      if (++depth > maxDepth) throw tooDeep();
    } else if ((byte & 0xdf) === 0x5d) depth--;
  }
  out.length = to;
}

const tooDeep = () =>
  new ConnectorError("RECORD_INVALID", {
    problem: `it is nested deeper than ${maxDepth} levels`,
  });

/** The place behind the string that begins at `start`. */
function stringEnd(from: Buffer, start: number, end: number): number {
  let at = start + 1;
  while (at < end && from[at] !== quote) at += from[at] === backslash ? 2 : 1;
  return Math.min(at + 1, end);
}
