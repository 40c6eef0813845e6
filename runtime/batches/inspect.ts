/**
 * The look over a batch that a worker has sent. Whoever gets it next may be a library in C: nothing
 * is left to it. Every section lies where the counts before it say, one behind the other, up to the
 * last byte; every value is one that its encoding has.
 */
import { isUtf8 } from "node:buffer";
import {
  type Batch,
  type BatchField,
  type Column,
  type Encoding,
  endlessDay,
  endlessInstant,
  type RowNote,
} from "../contract/batch.ts";
import { budgets } from "../contract/budgets.ts";
import { ConnectorError } from "../contract/errors.ts";
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
import { notStrictJson, strictJsonEnd } from "../wire/strict-json.ts";

/** Takes payloads apart. What it gives is valid until it is called again. */
export type BatchInspector = (payload: Buffer) => Batch;

const refuse = (problem: string) =>
  new ConnectorError("CONNECTOR_PROTOCOL", { problem: `a batch ${problem}` });

/** @param fields the columns that a batch of the stream has */
export function createBatchInspector(fields: readonly BatchField[]): BatchInspector {
  let memory = new ArrayBuffer(0);
  /** Views of numbers need an address that is a multiple of their width. */
  const aligned = (payload: Buffer): Buffer => {
    if (memory.byteLength < payload.length)
      memory = new ArrayBuffer(align8(Math.max(payload.length, 64 * 1024)));
    const copy = Buffer.from(memory, 0, payload.length);
    payload.copy(copy);
    return copy;
  };
  return (payload) => {
    try {
      return inspect(aligned(payload), fields);
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
  if (rowCount > budgets.batchRows.count[0]) throw refuse("has too many rows");
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
      if (payload.length - start < align8(bytes)) throw refuse("is cut off");
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
    const texts = { offsets, bytes, rowCount, validity };
    checkOffsets(texts);
    if (encoding !== "binary") checkTexts(texts);
    if (encoding === "json") checkJson(texts);
    else if (encoding === "number") checkNumbers(texts);
    return { ...field, validity, encoding: encoding as "utf8", offsets, bytes };
  }
  const raw = sections.take(rowCount * width);
  if (validity) checkNullSlots(raw, width, validity, rowCount);
  return { ...field, validity, ...readValues(encoding, raw, scale) } as Column;
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

interface Texts {
  readonly offsets: Uint32Array;
  readonly bytes: Buffer;
  readonly rowCount: number;
  readonly validity: Uint8Array | undefined;
}

function checkOffsets({ offsets, bytes, rowCount, validity }: Texts): void {
  let before = 0;
  if (offsets[0] !== 0 || offsets[rowCount] !== bytes.length)
    throw refuse("has texts that are not where it says");
  for (let row = 1; row <= rowCount; row++) {
    const end = offsets[row] as number;
    if (end < before) throw refuse("has texts that are not where it says");
    before = end;
  }
  if (!validity) return;
  for (let row = 0; row < rowCount; row++)
    if (isNull(validity, row) && offsets[row] !== offsets[row + 1])
      throw refuse("has a value under a null");
}

const isNull = (validity: Uint8Array, row: number) =>
  ((validity[row >> 3] as number) & (1 << (row & 7))) === 0;

/** UTF-8 as a whole, and no text begins inside of a character. */
function checkTexts({ offsets, bytes, rowCount }: Texts): void {
  if (!isUtf8(bytes)) throw refuse("has a text that is not UTF-8");
  for (let row = 1; row < rowCount; row++)
    if (((bytes[offsets[row] as number] as number) & 0xc0) === 0x80)
      throw refuse("has a text that is not UTF-8");
}

function checkJson({ offsets, bytes, rowCount, validity }: Texts): void {
  for (let row = 0; row < rowCount; row++) {
    const from = offsets[row] as number;
    const end = offsets[row + 1] as number;
    if (validity && isNull(validity, row)) continue;
    // The look may have gone on in the next text, such as from one number into another.
    if (from < end && strictJsonEnd(bytes, from) === end) continue;
    if (strictJsonEnd(bytes.subarray(from, end), 0) !== end - from) throw notStrictJson;
  }
}

const numberForm = /^(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|NaN|-?Infinity)$/;

function checkNumbers({ offsets, bytes, rowCount, validity }: Texts): void {
  for (let row = 0; row < rowCount; row++) {
    if (validity && isNull(validity, row)) continue;
    if (!numberForm.test(bytes.toString("latin1", offsets[row], offsets[row + 1])))
      throw refuse("has a number that is none");
  }
}

function checkNullSlots(raw: Buffer, width: number, validity: Uint8Array, rowCount: number): void {
  for (let row = 0; row < rowCount; row++) {
    if (!isNull(validity, row)) continue;
    for (let at = row * width; at < (row + 1) * width; at++)
      if (raw[at] !== 0) throw refuse("has a value under a null");
  }
}

function readValues(encoding: Encoding, { buffer, byteOffset, length }: Buffer, scale: number) {
  const bytes = () => new Uint8Array(buffer, byteOffset, length);
  const int32s = () => new Int32Array(buffer, byteOffset, length / 4);
  const int64s = () => new BigInt64Array(buffer, byteOffset, length / 8);
  switch (encoding) {
    case "bool":
      return { encoding, values: requireEvery(bytes(), (value) => value <= 1) };
    case "int32":
      return { encoding, values: int32s() };
    case "date32":
      return { encoding, values: requireEvery(int32s(), isDay) };
    case "int64":
      return { encoding, values: int64s() };
    case "decimal64":
      return { encoding, values: requireLong(int64s(), shortDecimals), scale };
    case "time64":
      return { encoding, values: requireLong(int64s(), times) };
    case "timestamp64":
      return { encoding, values: requireLong(int64s(), instants) };
    case "float64":
      return { encoding, values: new Float64Array(buffer, byteOffset, length / 8) };
    case "decimal128":
      requireEvery(new BigInt64Array(buffer, byteOffset, length / 8), isHalfOfDecimal);
      return { encoding, values: bytes(), scale };
    default:
      return { encoding, values: bytes() };
  }
}

function requireEvery<Values extends ArrayLike<number> | ArrayLike<bigint>>(
  values: Values,
  isOne: (value: Values[number], index: number, values: Values) => boolean,
): Values {
  for (let at = 0; at < values.length; at++)
    if (!isOne(values[at] as Values[number], at, values))
      throw refuse("has a value that its encoding cannot have");
  return values;
}

/** PostgreSQL's dates: from 4713 BC to the year 5874897. */
const firstDay = -2_440_588;
const lastDay = 2_145_042_541;
const isDay = (day: number) => (day >= firstDay && day <= lastDay) || Math.abs(day) === endlessDay;

/** A range of 64-bit integers. Most values are inside by their upper halves alone. */
interface LongRange {
  readonly upperFrom: number;
  readonly upperTo: number;
  has(value: bigint): boolean;
}

const rangeOf = (first: bigint, last: bigint, ...others: readonly bigint[]): LongRange => ({
  upperFrom: Number(first >> 32n) + 1,
  upperTo: Number(last >> 32n) - 1,
  has: (value) => (value >= first && value <= last) || others.includes(value),
});
const times = rangeOf(0n, 86_400_000_000n);
/** From 4713 BC, where PostgreSQL's begin, to what 64 bits hold. */
const instants = rangeOf(-210_866_803_200_000_000n, endlessInstant, -endlessInstant);
const shortDecimals = rangeOf(1n - 10n ** 18n, 10n ** 18n - 1n);

function requireLong(values: BigInt64Array, { upperFrom, upperTo, has }: LongRange) {
  const halves = new Int32Array(values.buffer, values.byteOffset, values.length * 2);
  for (let at = 0; at < values.length; at++) {
    const upper = halves[at * 2 + 1] as number;
    if (upper >= upperFrom && upper <= upperTo) continue;
    if (!has(values[at] as bigint)) throw refuse("has a value that its encoding cannot have");
  }
  return values;
}

const longLimit = 10n ** 38n;

/** Looks at both halves at the second. */
function isHalfOfDecimal(high: bigint, at: number, halves: BigInt64Array): boolean {
  if (at % 2 === 0) return true;
  const value = (high << 64n) | BigInt.asUintN(64, halves[at - 1] as bigint);
  return value < longLimit && value > -longLimit;
}

function readNotes(text: Buffer, rowCount: number): RowNote[] {
  if (text.length === 0) return [];
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
