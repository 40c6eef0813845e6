/**
 * The look over a batch that a worker has sent. Whoever gets it next may be a library in C: nothing
 * is left to it. Every section lies where the counts before it say, one behind the other, up to the
 * last byte; every value is one that its encoding has.
 */
import { isUtf8 } from "node:buffer";
import type {
  Batch,
  BatchField,
  Column,
  Encoding,
  RowNote,
  TextValues,
} from "../contract/batch.ts";
import { budgets } from "../contract/budgets.ts";
import { parseBounded } from "../wire/bounded-json.ts";
import {
  align8,
  columnHeadBytes,
  encodingById,
  encodings,
  encodingsOf,
  headBytes,
  maxScale,
} from "../wire/columns/encodings.ts";
import { maxNotesPerRow } from "../wire/row-notes.ts";
import { notStrictJson } from "../wire/strict-json.ts";
import { checkTexts } from "./check-texts.ts";
import { checkNullSlots, readValues } from "./check-values.ts";
import { refuse } from "./refuse.ts";

/** Takes payloads apart. What it gives is valid until its memory is used again. */
export type BatchInspector = (payload: Buffer) => Batch;

/**
 * Memory for the payload that is looked at: numbers need an address that is a multiple of their
 * width. The streams of a run share it, for there may be thousands.
 */
export interface BatchMemory {
  copyOf(payload: Buffer): Buffer;
}

export function createBatchMemory(): BatchMemory {
  let memory = new ArrayBuffer(0);
  return {
    copyOf(payload) {
      if (memory.byteLength < payload.length)
        memory = new ArrayBuffer(align8(Math.max(payload.length, 64 * 1024)));
      const copy = Buffer.from(memory, 0, payload.length);
      payload.copy(copy);
      return copy;
    },
  };
}

/** @param fields the columns that a batch of the stream has */
export function createBatchInspector(
  fields: readonly BatchField[],
  memory: BatchMemory = createBatchMemory(),
): BatchInspector {
  return (payload) => {
    try {
      return inspect(memory.copyOf(payload), fields);
    } catch (error) {
      throw error === notStrictJson ? refuse("has a JSON text that is none") : error;
    }
  };
}

function inspect(payload: Buffer, fields: readonly BatchField[]): Batch {
  if (payload.length < headBytes) throw refuse("is cut off");
  const rowCount = payload.readUInt32LE(0);
  const notesBytes = payload.readUInt32LE(8);
  if (payload.readUInt32LE(4) !== fields.length) throw refuse("has other columns than its stream");
  if (payload.readUInt32LE(12) !== 0) throw refuse("has bytes beside its columns");
  const { bytes, count } = budgets.batchRows;
  if (rowCount > count[0] || (rowCount > 1 && payload.length > bytes))
    throw refuse("has too many rows");
  const sections = createSections(payload, headBytes + fields.length * columnHeadBytes);
  const columns = fields.map((field, index) => {
    const head = headBytes + index * columnHeadBytes;
    return readColumn(field, readHead(payload, head, field), rowCount, sections);
  });
  const notes = readNotes(sections.take(notesBytes), rowCount);
  sections.end();
  return { rowCount, columns, notes };
}

/** The sections of a payload, which lie one behind the other. */
interface Sections {
  /** The next one. */
  take(bytes: number): Buffer;
  /** Says that there is no more. */
  end(): void;
}

function createSections(payload: Buffer, headsEnd: number): Sections {
  let at = 0;
  const skip = (to: number) => {
    for (let byte = at; byte < to; byte++)
      if (payload[byte] !== 0) throw refuse("has bytes beside its columns");
    at = to;
  };
  if (payload.length < align8(headsEnd)) throw refuse("is cut off");
  at = headsEnd;
  skip(align8(headsEnd));
  return {
    take(bytes) {
      const start = at;
      // First: beyond 2^31 bytes what is aligned is less than what was asked for.
      if (bytes > payload.length - start) throw refuse("is cut off");
      if (align8(bytes) > payload.length - start) throw refuse("is cut off");
      at += bytes;
      skip(start + align8(bytes));
      return payload.subarray(start, start + bytes);
    },
    end() {
      if (at !== payload.length) throw refuse("has bytes beside its columns");
    },
  };
}

interface ColumnHead {
  readonly encoding: Encoding;
  readonly hasValidity: boolean;
  readonly scale: number;
  readonly textBytes: number;
}

function readHead(payload: Buffer, at: number, { kind }: BatchField): ColumnHead {
  if (payload.length < at + columnHeadBytes) throw refuse("is cut off");
  const encoding = encodingById(payload.readUInt8(at));
  const validity = payload.readUInt8(at + 1);
  const scale = payload.readUInt8(at + 2);
  const textBytes = payload.readUInt32LE(at + 4);
  if (encoding === undefined || !encodingsOf[kind].includes(encoding))
    throw refuse("has an encoding that its column cannot have");
  if (validity > 1 || payload.readUInt8(at + 3) !== 0 || scale > maxScale(encoding))
    throw refuse("has a head that is none");
  if (textBytes > 0 && encodings[encoding].width > 0) throw refuse("has a head that is none");
  return { encoding, hasValidity: validity === 1, scale, textBytes };
}

function readColumn(
  field: BatchField,
  { encoding, hasValidity, scale, textBytes }: ColumnHead,
  rowCount: number,
  sections: Sections,
): Column {
  const validity = hasValidity ? readValidity(sections, rowCount) : undefined;
  if (validity && field.isKey && !areAllSet(validity, rowCount))
    throw refuse("has a key that is null");
  const { width } = encodings[encoding];
  if (width === 0) {
    const raw = sections.take((rowCount + 1) * 4);
    const offsets = new Uint32Array(raw.buffer, raw.byteOffset, rowCount + 1);
    const bytes = sections.take(textBytes);
    const texts = encoding as TextValues["encoding"];
    checkTexts({ offsets, bytes, rowCount, validity }, texts);
    return { ...field, validity, encoding: texts, offsets, bytes };
  }
  const raw = sections.take(rowCount * width);
  if (validity) checkNullSlots(raw, width, validity, rowCount);
  return { ...field, validity, ...readValues(encoding as "int32", raw, scale) } as Column;
}

function readValidity(sections: Sections, rowCount: number): Uint8Array {
  const bits = sections.take((rowCount + 7) >> 3);
  if ((rowCount & 7) !== 0 && (bits[rowCount >> 3] as number) >> (rowCount & 7) !== 0)
    throw refuse("has bits beyond its rows");
  return bits;
}

function areAllSet(validity: Uint8Array, rowCount: number): boolean {
  const whole = rowCount >> 3;
  for (let at = 0; at < whole; at++) if (validity[at] !== 0xff) return false;
  return (rowCount & 7) === 0 || validity[whole] === (1 << (rowCount & 7)) - 1;
}

function readNotes(text: Buffer, rowCount: number): RowNote[] {
  if (text.length === 0) return [];
  if (!isUtf8(text)) throw refuse("has notes that are none");
  const notes = parseBounded(text, budgets.notes, (problem) => refuse(`has notes: it ${problem}`));
  if (!Array.isArray(notes) || notes.length === 0) throw refuse("has notes that are none");
  let before = -1;
  return notes.map((note) => {
    const [row, ...fields] = Array.isArray(note) ? note : [];
    if (typeof row !== "number" || !Number.isInteger(row) || row <= before || row >= rowCount)
      throw refuse("has notes that are none");
    if (fields.length === 0 || fields.length > maxNotesPerRow || !fields.every(isText))
      throw refuse("has notes that are none");
    before = row;
    return { row, fields };
  });
}

const isText = (value: unknown): value is string => typeof value === "string";
