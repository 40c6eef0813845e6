/** Batches as JSON lines: for those who asked for JSON. */
import { type Batch, type BatchField, type Column, isValid } from "../contract/batch.ts";
import type { StreamDescriptor } from "../contract/catalog.ts";
import type { LineFormat } from "../contract/sink.ts";
import { metaField } from "../wire/record-line.ts";
import { maxNotesPerRow, noteOf } from "../wire/row-notes.ts";
import { ByteWriter } from "./byte-writer.ts";
import { type ValueText, valueText } from "./value-texts.ts";

export interface RenderedLines {
  /** Each ended by \n. Valid until their memory is used again. */
  readonly lines: Buffer;
  /** Values that JSON cannot say: they are null, and noted in their row. */
  readonly nulledCount: number;
}

export type LineRenderer = (batch: Batch, emittedAtMs: number) => RenderedLines;

/**
 * Rows of a stream as lines. A property is left out where its value is null and its schema has no
 * null, unless the row notes that a value was lost there.
 * @param out memory for the lines, which the streams of a run may share
 */
export function createLineRenderer(
  { name, namespace }: StreamDescriptor,
  format: LineFormat,
  out: ByteWriter = new ByteWriter(),
): LineRenderer {
  const place = namespace === undefined ? "" : `"namespace":${JSON.stringify(namespace)},`;
  const opening = Buffer.from(
    format === "rows"
      ? "{"
      : `{"type":"RECORD","record":{"stream":${JSON.stringify(name)},${place}"data":{`,
  );
  let named: { of: readonly BatchField[]; names: readonly Uint8Array[] } | undefined;
  const namesOf = (columns: readonly Column[]): readonly Uint8Array[] => {
    const isKnown =
      named?.of.length === columns.length &&
      named.of.every((field, index) => field.name === columns[index]?.name);
    if (!named || !isKnown) {
      const names = columns.map((column) => Buffer.from(`${JSON.stringify(column.name)}:`));
      named = { of: columns, names };
    }
    return named.names;
  };

  return ({ rowCount, columns, notes }, emittedAtMs) => {
    out.length = 0;
    const names = namesOf(columns);
    const texts: readonly ValueText[] = columns.map(valueText);
    const ending =
      format === "rows" ? Buffer.from("}\n") : Buffer.from(`},"emitted_at":${emittedAtMs}}}\n`);
    let nulledCount = 0;
    let nextNote = 0;
    for (let row = 0; row < rowCount; row++) {
      let noted = notes[nextNote]?.row === row ? (notes[nextNote++]?.fields ?? []) : noNotes;
      out.copy(opening);
      let isFirst = true;
      for (let index = 0; index < columns.length; index++) {
        const column = columns[index] as Column;
        const isThere = column.validity === undefined || isValid(column, row);
        if (!isThere && !column.isNullable && !noted.includes(column.name)) continue;
        if (isFirst) isFirst = false;
        else out.byte(0x2c);
        out.copy(names[index] as Uint8Array);
        if (!isThere) out.ascii("null");
        else if (!(texts[index] as ValueText)(out, row)) {
          out.ascii("null");
          noted = [...noted, column.name];
          nulledCount++;
        }
      }
      if (noted.length === 0) out.copy(ending);
      else out.copy(withNotes(noted, format, isFirst, emittedAtMs));
    }
    return { lines: out.written(), nulledCount };
  };
}

const noNotes: readonly string[] = [];

function withNotes(
  fields: readonly string[],
  format: LineFormat,
  isEmpty: boolean,
  emittedAtMs: number,
): Uint8Array {
  const meta = JSON.stringify({ changes: fields.slice(0, maxNotesPerRow).map(noteOf) });
  return Buffer.from(
    format === "rows"
      ? `${isEmpty ? "" : ","}"${metaField}":${meta}}\n`
      : `},"emitted_at":${emittedAtMs},"meta":${meta}}}\n`,
  );
}
