/**
 * Rows of a binary COPY as columns: first the places of the fields of some rows, then the values
 * column by column.
 * @see https://www.postgresql.org/docs/current/sql-copy.html ("Binary Format", read 2026-11)
 */
import {
  type Batch,
  type BatchField,
  type Column,
  ConnectorError,
  type RowNote,
} from "svc-connectors";
import type { Block, Values } from "./columns/values.ts";
import { headBytes, malformed, type RowTaker } from "./copy-tap.ts";

/** The column that a field of the rows goes to. */
export interface DecodedField {
  /** Undefined: it is only for the state. */
  readonly field?: BatchField | undefined;
  readonly values?: Values | undefined;
}

export interface DecoderOptions {
  /** In the order of the rows' fields. */
  readonly decoded: readonly DecodedField[];
  /** The columns of a batch; those of `decoded`, and others that no row has. */
  readonly columns: readonly { readonly field: BatchField; readonly values: Values }[];
  /** Most rows of a batch. */
  readonly maxRows: number;
  /** Places of the fields whose bytes in the last row are asked for. */
  readonly kept: readonly number[];
  /** A row without end in this field is in another batch than those before it. */
  readonly endless?:
    | { readonly index: number; readonly isEndless: (view: DataView, at: number) => boolean }
    | undefined;
  readonly onFull: () => void;
  readonly onFailure: (error: unknown) => void;
}

export interface RowDecoder extends RowTaker {
  readonly isFull: boolean;
  readonly rowCount: number;
  /** The rows so far. Valid until `clear`. */
  batch(): Batch;
  /** A field of the last row of the batch; null when it has no value. */
  last(index: number): Buffer | null;
  clear(): void;
}

/** Rows of a batch at most: four vectors of DuckDB. */
export const maxBatchRows = 8192;
/** Bytes of a batch of several rows, about: a frame of the wire has a MiB. */
const batchBytes = 960 * 1024;
/** Largest row; one frame has to hold it. */
const maxRowBytes = 16 * 1024 * 1024;
/** Rows whose places are noted at once, and fields in all of them. */
const blockRows = 512;
const blockFields = 65_536;
/** Signature, flags, and the length of what may follow them. */
const headerBytes = 19;
const signature = Buffer.from("PGCOPY\n\xff\r\n\0", "latin1");
/** Most notes that a row may have. */
const maxNotesPerRow = 20;

/** Rows of which a batch has room, when each takes at least so many bytes. */
export const capacityFor = (rowBytes: number) =>
  Math.min(maxBatchRows, Math.ceil(batchBytes / Math.max(1, rowBytes)) + 8) & ~7;

export function createRowDecoder(options: DecoderOptions): RowDecoder {
  const { decoded, columns, kept, endless, onFull, onFailure } = options;
  const fieldCount = decoded.length;
  const minRowBytes = columns.reduce((sum, { values }) => sum + values.rowBytes, 0);
  const maxRows = Math.min(options.maxRows, capacityFor(minRowBytes));
  const perBlock = Math.max(1, Math.min(blockRows, Math.floor(blockFields / (fieldCount + 1))));
  const messages = new Int32Array(perBlock);
  const { starts, frameRow } = createFramer(decoded, perBlock, minRowBytes);

  let hasHeader = false;
  let rowCount = 0;
  let usedBytes = 0;
  let isFull = false;
  let isEndless = false;
  let last: (Buffer | null)[] = [];

  /**
   * Adds the rows of a block to all columns; gives how many all of them took, and who took no more.
   */
  const addToAll = (block: Block, count: number) => {
    let taken = count;
    let unable: Values[] = [];
    for (let index = 0; index < fieldCount; index++) {
      const values = (decoded[index] as DecodedField).values;
      const added = values?.add(block, index * perBlock, count, rowCount) ?? count;
      if (added < taken) unable = [];
      taken = Math.min(taken, added);
      if (values && added < count && added === taken) unable.push(values);
    }
    return { taken, unable };
  };

  const addBlock = (block: Block, count: number): number => {
    let { taken, unable } = addToAll(block, count);
    if (taken === 0 && rowCount === 0) {
      // Columns that the first row needs wider are wider for the whole batch.
      for (const { values } of columns) values.clear();
      for (const values of unable) values.widen();
      ({ taken, unable } = addToAll(block, count));
      if (taken === 0) throw malformed();
    }
    rowCount += taken;
    if (taken > 0) last = kept.map((index) => fieldOf(block, index * perBlock + taken - 1));
    return taken;
  };

  return {
    maxRowBytes,
    get isFull() {
      return isFull;
    },
    get rowCount() {
      return rowCount;
    },
    take(bytes, from, end) {
      if (isFull) return from;
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      const block: Block = { bytes, view, starts };
      let at = from;
      while (!isFull) {
        let count = 0;
        let isCut = false;
        while (count < perBlock && end - at >= headBytes && bytes[at] === 0x64) {
          const messageEnd = at + 1 + view.getInt32(at + 1);
          if (messageEnd > end) break;
          const isFirst = !hasHeader;
          const body = at + headBytes + (isFirst ? headerLength(bytes, at + headBytes) : 0);
          if (isFirst && body === messageEnd) {
            hasHeader = true;
            at = messageEnd;
            continue;
          }
          const rowBytes = frameRow(view, body, messageEnd, count);
          if (rowBytes > maxRowBytes) throw tooLarge();
          const begins =
            endless !== undefined && rowBytes > 0 && isWithoutEnd(view, count, endless);
          if (
            rowCount + count > 0 &&
            (usedBytes + rowBytes > batchBytes || (begins && !isEndless))
          ) {
            isCut = true;
            break;
          }
          hasHeader = true;
          if (rowBytes > 0) {
            messages[count++] = at;
            usedBytes += rowBytes;
            isEndless ||= begins;
          }
          at = messageEnd;
          if (rowCount + count >= maxRows) {
            isCut = true;
            break;
          }
        }
        if (count === 0) {
          if (isCut) isFull = true;
          break;
        }
        const taken = addBlock(block, count);
        if (taken < count) {
          at = messages[taken] as number;
          isCut = true;
        }
        if (isCut) isFull = true;
      }
      if (isFull) onFull();
      return at;
    },
    fail: onFailure,
    batch() {
      const made = columns.map(
        ({ field, values }) => ({ ...field, ...values.get(rowCount) }) as Column,
      );
      const bytes = made.reduce(
        (sum, column) => sum + ("offsets" in column ? column.bytes.length : 0),
        rowCount * minRowBytes,
      );
      if (rowCount === 1 && bytes > maxRowBytes) throw tooLarge();
      return { rowCount, columns: made, notes: notesOf(columns, rowCount) };
    },
    last: (index) => last[kept.indexOf(index)] ?? null,
    clear() {
      for (const { values } of columns) values.clear();
      rowCount = 0;
      usedBytes = 0;
      isFull = false;
    },
  };

  function isWithoutEnd(
    view: DataView,
    slot: number,
    { index, isEndless: isOne }: NonNullable<DecoderOptions["endless"]>,
  ): boolean {
    const start = starts[slot + index * perBlock] as number;
    return start > 0 && isOne(view, start);
  }
}

/** Notes where the fields of the rows of a block stand. */
function createFramer(decoded: readonly DecodedField[], perBlock: number, minRowBytes: number) {
  const fieldCount = decoded.length;
  const starts = new Int32Array(perBlock * fieldCount);
  const wireBytes = Int32Array.from(decoded, ({ values }) => values?.wireBytes ?? 0);
  const growing = decoded.flatMap(({ values }, index) =>
    values?.growth ? [{ index, growth: values.growth }] : [],
  );

  /**
   * Notes the places of a row's fields; gives the bytes that it may take, 0 behind the last row.
   */
  const frameRow = (view: DataView, from: number, end: number, slot: number): number => {
    let at = from;
    if (end - at < 2) throw malformed();
    const count = view.getInt16(at);
    at += 2;
    if (count === -1 && at === end) return 0;
    if (count !== fieldCount) throw malformed();
    let rowBytes = headBytes + end - from;
    for (let index = 0, to = slot; index < fieldCount; index++, to += perBlock) {
      if (end - at < 4) throw malformed();
      const length = view.getInt32(at);
      at += 4;
      if (length < 0) {
        starts[to] = 0;
        continue;
      }
      const wanted = wireBytes[index] as number;
      if (length > end - at || (wanted > 0 && length !== wanted)) throw malformed();
      starts[to] = at;
      at += length;
    }
    if (at !== end) throw malformed();
    for (const { index, growth } of growing) {
      const start = starts[slot + index * perBlock] as number;
      if (start > 0) rowBytes += growth(view, start);
    }
    return Math.max(rowBytes, minRowBytes);
  };

  return { starts, frameRow };
}

/** A copy of the field whose place is noted there. */
function fieldOf({ bytes, view, starts }: Block, place: number): Buffer | null {
  const start = starts[place] as number;
  return start === 0 ? null : Buffer.from(bytes.subarray(start, start + view.getInt32(start - 4)));
}

function headerLength(bytes: Buffer, at: number): number {
  if (bytes.length - at < headerBytes || signature.compare(bytes, at, at + 11) !== 0)
    throw malformed();
  return headerBytes + bytes.readInt32BE(at + 15);
}

/** Notes of the values that rows could not hold, in the rows' order. */
function notesOf(columns: DecoderOptions["columns"], rowCount: number): RowNote[] {
  const notes = new Map<number, string[]>();
  for (const { field, values } of columns)
    for (const row of values.lost) {
      const fields = notes.get(row) ?? [];
      if (row < rowCount && fields.length < maxNotesPerRow) notes.set(row, [...fields, field.name]);
    }
  return [...notes].sort(([one], [other]) => one - other).map(([row, fields]) => ({ row, fields }));
}

const tooLarge = () => new ConnectorError("RECORD_TOO_LARGE", { limit: maxRowBytes });
