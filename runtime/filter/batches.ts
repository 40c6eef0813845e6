/**
 * The search for secrets in rows as columns. Texts are searched as they lie: clean ones cost one
 * pass of the scanner. Values that are no text are searched as the texts that JSON has for them,
 * where a secret of the run may look like one.
 */
import type { Batch, Column, RowNote, TextValues } from "../contract/batch.ts";
import { ConnectorError } from "../contract/errors.ts";
import { maxNotesPerRow } from "../wire/row-notes.ts";
import { base64Texts, columnTexts } from "./column-texts.ts";
import type { TextRows } from "./folding.ts";
import { redactedWord } from "./redact-json.ts";
import { type NewTexts, withoutValues, withTexts } from "./rewrite-columns.ts";
import { asBuffer, isSecretText, isSuspicious, redactValue, type Search } from "./search.ts";
import { rowsOfOthers, rowsOfOthersInJson, rowsOfRuns, rowsOfShort, textOf } from "./text-rows.ts";
import { stringEncodings } from "./value-shapes.ts";

/**
 * The batch without what holds a secret, and how many values these were; the same batch when there
 * is none. Its memory stays as it is.
 * @throws LEAK_BLOCKED when a value of a key would have to be null
 */
export function redactBatch(search: Search, batch: Batch): { batch: Batch; count: number } {
  const { rowCount } = batch;
  let count = 0;
  const lost = new Map<number, string[]>();
  const columns = batch.columns.map((column) => {
    const redacted = redactColumn(search, column, rowCount);
    count += redacted.count;
    for (const row of redacted.lost) lost.set(row, [...(lost.get(row) ?? []), column.name]);
    return redacted.column;
  });
  const notes = redactNotes(search, batch);
  count += notes.count;
  if (count === 0) return { batch, count };
  return { batch: { rowCount, columns, notes: withLost(notes.notes, lost) }, count };
}

interface Redacted {
  readonly column: Column;
  readonly count: number;
  /** Rows whose value is null now. */
  readonly lost: readonly number[];
}

/** So often, what is left may come together to another secret. */
const maxRounds = 4;

function redactColumn(search: Search, given: Column, rowCount: number): Redacted {
  let column = given;
  let count = 0;
  const lost = new Set<number>();
  for (let round = 0; round < maxRounds; round++) {
    const found = findSecrets(search, column, rowCount, round > 0);
    if (found === undefined) return { column, count, lost: [...lost] };
    count += found.count;
    column = found.column;
    for (const row of found.lost) lost.add(row);
    if (lost.size > 0 && column.isKey) break;
  }
  throw new ConnectorError("LEAK_BLOCKED");
}

/** @param isAgain looks only for what may have come together */
function findSecrets(
  search: Search,
  column: Column,
  rowCount: number,
  isAgain: boolean,
): Redacted | undefined {
  if (!("offsets" in column)) {
    if (!search.shapes.has(column.encoding)) return undefined;
    const texts = columnTexts(column, rowCount);
    const isString = stringEncodings.has(column.encoding);
    const rows = [
      ...rowsOfRuns(search, texts),
      ...(isString && !isAgain ? rowsOfShort(search, texts) : []),
    ];
    return without(column, rowCount, rows);
  }
  const texts = { bytes: asBuffer(column.bytes), offsets: column.offsets, rowCount };
  const { encoding } = column;
  if (encoding === "json") return redactJsonColumn(search, column, texts, isAgain);
  const rows = rowsOfRuns(search, texts);
  if (encoding === "number") {
    // As they lie, neighbours may look like one.
    const isFound = rows.length > 0;
    return without(
      column,
      rowCount,
      isFound ? rowsOfRuns(search, columnTexts(column, rowCount)) : [],
    );
  }
  if (encoding === "binary") {
    const encoded = base64Texts(texts);
    rows.push(...rowsOfRuns(search, encoded));
    if (!isAgain) rows.push(...rowsOfShort(search, encoded));
    return without(column, rowCount, rows);
  }
  if (!isAgain) rows.push(...rowsOfOthers(search, texts));
  if (column.kind !== "text") return without(column, rowCount, rows);
  if (rows.length === 0) return undefined;
  const words: NewTexts = new Map(rows.map((row) => [row, word]));
  return { column: withTexts(column, rowCount, words), count: words.size, lost: [] };
}

const word = Buffer.from(redactedWord);

/** Null in the place of a word that the column cannot hold. */
function without(column: Column, rowCount: number, rows: readonly number[]): Redacted | undefined {
  if (rows.length === 0) return undefined;
  const lost = [...new Set(rows)];
  return { column: withoutValues(column, rowCount, lost), count: lost.length, lost };
}

/** Strings inside of values; null where the secret is not in a string. */
function redactJsonColumn(
  search: Search,
  column: Column & TextValues,
  texts: TextRows,
  isAgain: boolean,
): Redacted | undefined {
  const touched = new Set(rowsOfRuns(search, texts));
  const rows = new Set([...touched, ...(isAgain ? [] : rowsOfOthersInJson(search, texts))]);
  const changed = new Map<number, Uint8Array | undefined>();
  let count = 0;
  for (const row of rows) {
    const redacted = redactValue(search, textOf(texts, row));
    const isLeft = redacted.json === undefined || (redacted.count === 0 && touched.has(row));
    if (isLeft) changed.set(row, undefined);
    else if (redacted.count > 0) changed.set(row, Buffer.from(redacted.json ?? ""));
    count += redacted.count + (isLeft ? 1 : 0);
  }
  if (changed.size === 0) return undefined;
  const lost = [...changed].filter(([, text]) => text === undefined).map(([row]) => row);
  return { column: withTexts(column, texts.rowCount, changed), count, lost };
}

/** The fields that notes name come from the worker too. */
function redactNotes(
  search: Search,
  { notes, columns }: Batch,
): { notes: readonly RowNote[]; count: number } {
  if (notes.length === 0) return { notes, count: 0 };
  if (!isSuspicious(search, Buffer.from(JSON.stringify(notes.map(({ fields }) => fields)))))
    return { notes, count: 0 };
  // A short secret may equal the name of a declared field.
  const names = new Set(columns.map(({ name }) => name));
  let count = 0;
  const safe = (field: string) => {
    if (!isSecretText(search, field, names.has(field) ? "key" : "value")) return field;
    count++;
    return redactedWord;
  };
  return { notes: notes.map(({ row, fields }) => ({ row, fields: fields.map(safe) })), count };
}

function withLost(
  notes: readonly RowNote[],
  lost: ReadonlyMap<number, readonly string[]>,
): readonly RowNote[] {
  if (lost.size === 0) return notes;
  const fieldsOf = new Map(notes.map(({ row, fields }) => [row, fields]));
  for (const [row, names] of lost)
    fieldsOf.set(row, [...(fieldsOf.get(row) ?? []), ...names].slice(0, maxNotesPerRow));
  return [...fieldsOf].sort(([a], [b]) => a - b).map(([row, fields]) => ({ row, fields }));
}
