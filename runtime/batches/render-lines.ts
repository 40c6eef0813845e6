/** Batches as JSON lines: for those who asked for JSON. */
import { type Batch, type BatchField, type Column, isValid } from "../contract/batch.ts";
import type { StreamDescriptor } from "../contract/catalog.ts";
import type { LineFormat } from "../contract/sink.ts";
import { maxNotesPerRow, metaField, noteOf } from "../wire/row-notes.ts";
import { type CopySource, copy, copySourceOf, createLineMemory, putAscii } from "./line-bytes.ts";
import { type ValueText, valueTexts } from "./value-texts.ts";

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
 * @param memory for the lines, which the streams of a run may share
 */
export function createLineRenderer(
  { name, namespace }: StreamDescriptor,
  format: LineFormat,
  memory = createLineMemory(),
): LineRenderer {
  const place = namespace === undefined ? "" : `"namespace":${JSON.stringify(namespace)},`;
  const opening = sourceOf(
    format === "rows"
      ? "{"
      : `{"type":"RECORD","record":{"stream":${JSON.stringify(name)},${place}"data":{`,
  );
  let named: { of: readonly BatchField[]; names: readonly CopySource[] } | undefined;
  const namesOf = (columns: readonly Column[]): readonly CopySource[] => {
    const isKnown =
      named?.of.length === columns.length &&
      named.of.every((field, index) => field.name === columns[index]?.name);
    if (!named || !isKnown) {
      const names = columns.map((column) => sourceOf(`,${JSON.stringify(column.name)}:`));
      named = { of: columns, names };
    }
    return named.names;
  };

  return ({ rowCount, columns, notes }, emittedAtMs) => {
    const names = namesOf(columns);
    const ending = sourceOf(format === "rows" ? "}\n" : `},"emitted_at":${emittedAtMs}}}\n`);
    const texts = columns.map((column) => valueTexts(column, rowCount));
    const writes: readonly ValueText[] = texts.map(({ write }) => write);
    const frameBytes =
      lengthOf(opening) + lengthOf(ending) + sum(names.map((one) => lengthOf(one) + 4));
    let room = frameBytes * rowCount + sum(texts.map(({ bytes }) => bytes));
    let into = memory.take(room);
    let nulledCount = 0;
    let nextNote = 0;
    let at = 0;
    for (let row = 0; row < rowCount; row++) {
      let noted = notes[nextNote]?.row === row ? (notes[nextNote++]?.fields ?? []) : noNotes;
      at = copy(into, at, opening, 0, opening.bytes.length);
      // The comma before the first property is left out.
      let start = 1;
      for (let index = 0; index < columns.length; index++) {
        const column = columns[index] as Column;
        const isThere = column.validity === undefined || isValid(column, row);
        if (!isThere && !column.isNullable && !isLost(noted, column.name)) continue;
        const name = names[index] as CopySource;
        at = copy(into, at, name, start, name.bytes.length);
        start = 0;
        const end = isThere ? (writes[index] as ValueText)(into, at, row) : -1;
        if (end !== -1) {
          at = end;
          continue;
        }
        at = putAscii(into, at, "null");
        if (isThere) {
          noted = [...noted, column.name];
          nulledCount++;
        }
      }
      if (noted.length === 0) {
        at = copy(into, at, ending, 0, ending.bytes.length);
        continue;
      }
      const meta = withNotes(noted, format, start === 1, emittedAtMs);
      room += meta.length;
      into = memory.grow(room, at);
      into.bytes.set(meta, at);
      at += meta.length;
    }
    return { lines: Buffer.from(into.bytes.buffer, 0, at), nulledCount };
  };
}

const noNotes: readonly string[] = [];

/** Whether the value was lost, as far as the notes of a row can tell: they end at so many. */
const isLost = (noted: readonly string[], name: string) =>
  noted.includes(name) || noted.length >= maxNotesPerRow;

const sourceOf = (text: string) => copySourceOf(Buffer.from(text));
const lengthOf = ({ bytes }: CopySource) => bytes.length;
const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0);

function withNotes(
  fields: readonly string[],
  format: LineFormat,
  isEmpty: boolean,
  emittedAtMs: number,
): Buffer {
  const meta = JSON.stringify({ changes: fields.slice(0, maxNotesPerRow).map(noteOf) });
  return Buffer.from(
    format === "rows"
      ? `${isEmpty ? "" : ","}"${metaField}":${meta}}\n`
      : `},"emitted_at":${emittedAtMs},"meta":${meta}}}\n`,
  );
}
