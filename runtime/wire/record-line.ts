/**
 * Rows on their way from the worker into lines. The worker sends `{…}\n` a row, with a tab and its
 * notes before the \n when values were nulled; the host makes the envelope, so that nothing in a
 * row can pose as a message.
 */
import type { StreamDescriptor } from "../contract/catalog.ts";
import { ConnectorError } from "../contract/errors.ts";
import type { LineFormat } from "../contract/sink.ts";

/** Between a row and its notes; JSON text never has one outside of white space. */
export const notesMark = "\t";
/** Where the notes of a bare row stand. */
export const metaField = "_svc_meta";

/**
 * Checks that the bytes are `rowCount` lines, each one balanced JSON object with or without notes.
 * @returns whether any has notes
 * @throws CONNECTOR_PROTOCOL
 */
export function checkRowLines(lines: Buffer, rowCount: number): boolean {
  let count = 0;
  let depth = 0;
  let hasNotes = false;
  let expected: number = open;
  for (let at = 0; at < lines.length; at++) {
    const byte = lines[at] as number;
    if (depth === 0) {
      // Between objects: the next byte decides what may come.
      if (byte === 0x0a && expected === end) {
        count++;
        expected = open;
      } else if (byte === 0x09 && expected === end) {
        hasNotes = true;
        expected = open;
      } else if (byte === 0x7b && expected === open) {
        nesting[0] = byte;
        depth = 1;
      } else throw notRows();
      continue;
    }
    const kind = kindOf[byte];
    if (kind === plain) continue;
    if (kind === quote) {
      for (at++; at < lines.length && lines[at] !== 0x22; at++) {
        if (lines[at] === 0x5c) at++;
        // a raw line break would end the line inside of the string
        if ((lines[at] as number) < 0x20) throw notRows();
      }
    } else if (kind === opening) {
      if (depth === maxNesting) throw notRows();
      nesting[depth++] = byte;
    } else if (kind === closing) {
      // The two codes of "{" and "}", "[" and "]" differ by 2.
      if (nesting[--depth] !== byte - 2) throw notRows();
      if (depth === 0) expected = end;
    } else throw notRows();
  }
  if (depth !== 0 || expected !== open || count !== rowCount) throw notRows();
  return hasNotes;
}

/** Deeper rows are refused by the writer already. @see maxDepth of exact-json.ts */
const maxNesting = 256;
/** The open brackets of the row that is being looked at. */
const nesting = new Uint8Array(maxNesting);

const open = 0;
const end = 1;
const plain = 0;
const quote = 1;
const opening = 2;
const closing = 3;
const control = 4;

/** The meaning of a byte outside of a string. */
const kindOf = new Uint8Array(256);
kindOf.fill(control, 0, 0x20);
kindOf[0x22] = quote;
kindOf[0x7b] = kindOf[0x5b] = opening;
kindOf[0x7d] = kindOf[0x5d] = closing;

const notRows = () => new ConnectorError("CONNECTOR_PROTOCOL", { problem: "a line is not a row" });

/**
 * Puts checked rows into their envelope. What it gives is valid until it is called again: the
 * memory is used anew.
 */
export type LineFormatter = (
  lines: Buffer,
  rowCount: number,
  hasNotes: boolean,
  emittedAtMs: number,
) => Buffer;

/** The envelope of a stream's rows: an Airbyte RECORD message, or none. */
export function createLineFormatter(
  { name, namespace }: StreamDescriptor,
  format: LineFormat,
): LineFormatter {
  if (format === "rows") return (lines, _count, hasNotes) => (hasNotes ? withMeta(lines) : lines);
  const place = namespace === undefined ? "" : `"namespace":${JSON.stringify(namespace)},`;
  let out = Buffer.allocUnsafeSlow(0);
  const before = Buffer.from(
    `{"type":"RECORD","record":{"stream":${JSON.stringify(name)},${place}"data":`,
  );
  return (lines, rowCount, hasNotes, emittedAtMs) => {
    const emittedAt = `,"emitted_at":${emittedAtMs}`;
    if (hasNotes) return withNotes(lines, before, emittedAt);
    const after = Buffer.from(`${emittedAt}}}\n`);
    const size = lines.length + rowCount * (before.length + after.length - 1);
    if (out.length < size) out = Buffer.allocUnsafeSlow(size * 2);
    let length = 0;
    for (let from = 0; from < lines.length; ) {
      const lineEnd = lines.indexOf(0x0a, from);
      out.set(before, length);
      length += before.length;
      out.set(lines.subarray(from, lineEnd), length);
      length += lineEnd - from;
      out.set(after, length);
      length += after.length;
      from = lineEnd + 1;
    }
    return out.subarray(0, length);
  };
}

/** The rare frame in which values were nulled: line by line. */
function withNotes(lines: Buffer, before: Buffer, emittedAt: string): Buffer {
  return eachLine(
    lines,
    (row, notes) => `${before}${row}${emittedAt}${notes === undefined ? "" : `,"meta":${notes}`}}}`,
  );
}

function withMeta(lines: Buffer): Buffer {
  return eachLine(lines, (row, notes) => {
    if (notes === undefined) return row;
    const comma = row === "{}" ? "" : ",";
    return `${row.slice(0, -1)}${comma}"${metaField}":${notes}}`;
  });
}

function eachLine(
  lines: Buffer,
  write: (row: string, notes: string | undefined) => string,
): Buffer {
  const texts = lines.toString("utf8").split("\n").slice(0, -1);
  return Buffer.from(
    texts
      .map((line) => {
        const mark = line.indexOf(notesMark);
        return `${mark === -1 ? write(line, undefined) : write(line.slice(0, mark), line.slice(mark + 1))}\n`;
      })
      .join(""),
  );
}
