/**
 * Rows on their way from the worker into lines. The worker sends `{…}\n` a row, with a tab and its
 * notes before the \n when values were nulled; the host makes the envelope, so that nothing in a
 * row can pose as a message.
 */
import type { StreamDescriptor } from "../contract/catalog.ts";
import type { LineFormat } from "../contract/sink.ts";

/** Between a row and its notes; JSON text never has one outside of white space. */
export const notesMark = "\t";
/** Where the notes of a bare row stand. */
export const metaField = "_svc_meta";

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
