/** Changes to rows, as `_svc_meta` says them. */
import {
  type BatchColumn,
  isValid,
  maxNotesPerRow,
  noteOf,
  ownColumns,
  type RowNote,
} from "svc-connectors/destination";

const metaText = (changes: readonly object[]) =>
  Buffer.from(JSON.stringify({ changes: changes.slice(0, maxNotesPerRow) }));

/** A column of JSON with a text for each row that has notes; undefined when none has. */
export function notesColumn(notes: readonly RowNote[], rowCount: number): BatchColumn | undefined {
  if (notes.length === 0) return undefined;
  const texts = new Map(notes.map(({ row, fields }) => [row, metaText(fields.map(noteOf))]));
  return columnOf(texts, rowCount);
}

/** The column with notes of values that became null besides, by row. */
export function withNotes(
  meta: BatchColumn | undefined,
  nulled: ReadonlyMap<number, readonly string[]>,
  rowCount: number,
): BatchColumn {
  const texts = new Map<number, Buffer>();
  for (let row = 0; row < rowCount; row++) {
    const known = meta && "offsets" in meta && isValid(meta, row) ? textAt(meta, row) : undefined;
    const fields = nulled.get(row);
    if (fields) texts.set(row, metaText([...changesOf(known), ...fields.map(noteOf)]));
    else if (known) texts.set(row, known);
  }
  return columnOf(texts, rowCount);
}

function changesOf(text: Buffer | undefined): readonly object[] {
  const { changes } = JSON.parse(text?.toString() ?? "{}") as { changes?: unknown };
  return Array.isArray(changes) ? changes : [];
}

const textAt = ({ bytes, offsets }: { bytes: Uint8Array; offsets: Uint32Array }, row: number) =>
  Buffer.from(bytes.subarray(offsets[row], offsets[row + 1]));

function columnOf(texts: ReadonlyMap<number, Buffer>, rowCount: number): BatchColumn {
  const offsets = new Uint32Array(rowCount + 1);
  const validity = new Uint8Array(Math.ceil(rowCount / 64) * 8);
  const parts: Buffer[] = [];
  for (let row = 0; row < rowCount; row++) {
    const text = texts.get(row);
    offsets[row + 1] = (offsets[row] as number) + (text?.length ?? 0);
    if (!text) continue;
    parts.push(text);
    validity[row >> 3] = (validity[row >> 3] as number) | (1 << (row & 7));
  }
  const field = { name: ownColumns.meta, kind: "json", isNullable: true, isKey: false } as const;
  return { ...field, encoding: "json", validity, offsets, bytes: Buffer.concat(parts) };
}
