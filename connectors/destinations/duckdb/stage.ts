/**
 * Rows on their way into a table: copies of batches, in memory, and in a private file beyond it.
 */
import { type FileHandle, open, rm } from "node:fs/promises";
import type { Batch, BatchColumn } from "svc-connectors/destination";
import { allNeeds, type NumberNeeds, noNeeds } from "./numbers.ts";

export interface Stage {
  readonly rowCount: number;
  readonly byteCount: number;
  /** The needs of each property beyond the type that its column had when the rows came. */
  needs(): ReadonlyMap<string, NumberNeeds>;
  /** @param needs by property */
  add(batch: StagedBatch, needs: ReadonlyMap<string, NumberNeeds>): Promise<void>;
  /** The rows in the order of arrival, again at each call. A batch is valid until the next one. */
  batches(): AsyncIterable<StagedBatch>;
  /** Says that a checkpoint covers the rows so far. */
  markCovered(): void;
  /** Drops the rows that came after the mark, or all when there is none. */
  cutToCovered(): Promise<void>;
  /** Empties it. */
  clear(): Promise<void>;
  remove(): Promise<void>;
}

/** Rows and what was changed in them. */
export interface StagedBatch extends Pick<Batch, "rowCount" | "columns"> {
  /** A JSON text for each row that has notes. */
  readonly meta?: BatchColumn | undefined;
}

/** Bytes of rows that stay in memory. */
const memoryBytes = 8 * 1024 * 1024;

const nothing = { rows: 0, bytes: 0, fileBytes: 0 };

interface Entry {
  readonly rowCount: number;
  readonly byteCount: number;
  readonly needs: ReadonlyMap<string, NumberNeeds>;
  /** Undefined: the rows are in the file, at this place. */
  readonly memory: ArrayBuffer | undefined;
  readonly fileOffset: number;
  readonly layout: Layout;
}

export function createStage(path: string): Stage {
  let entries: Entry[] = [];
  let coveredCount = 0;
  let total = nothing;
  let file: FileHandle | undefined;
  const count = ({ rowCount, byteCount, memory }: Entry) => {
    total = {
      rows: total.rows + rowCount,
      bytes: total.bytes + byteCount,
      fileBytes: total.fileBytes + (memory ? 0 : byteCount),
    };
  };
  const cut = async (kept: number) => {
    entries = entries.slice(0, kept);
    coveredCount = kept;
    total = nothing;
    entries.forEach(count);
    await file?.truncate(total.fileBytes);
  };
  return {
    get rowCount() {
      return total.rows;
    },
    get byteCount() {
      return total.bytes;
    },
    needs() {
      const all = new Map<string, NumberNeeds>();
      for (const { needs } of entries)
        for (const [property, one] of needs)
          all.set(property, allNeeds(all.get(property) ?? noNeeds, one));
      return all;
    },
    async add(batch, needs) {
      const { memory, layout } = copied(batch);
      const isKept = total.bytes - total.fileBytes + memory.byteLength <= memoryBytes;
      const fileOffset = total.fileBytes;
      if (!isKept) {
        file ??= await open(path, "w+", 0o600);
        await writeAll(file, memory, fileOffset);
      }
      const entry = {
        rowCount: batch.rowCount,
        byteCount: memory.byteLength,
        needs,
        memory: isKept ? memory : undefined,
        fileOffset,
        layout,
      };
      entries.push(entry);
      count(entry);
    },
    async *batches() {
      let read = new ArrayBuffer(0);
      for (const { memory, byteCount, fileOffset, layout } of entries) {
        if (memory === undefined) {
          if (read.byteLength < byteCount) read = new ArrayBuffer(byteCount);
          await readAll(file as FileHandle, read, byteCount, fileOffset);
        }
        yield viewOf(layout, memory ?? read);
      }
    },
    markCovered() {
      coveredCount = entries.length;
    },
    cutToCovered: () => cut(coveredCount),
    clear: () => cut(0),
    async remove() {
      entries = [];
      await file?.close();
      await rm(path, { force: true });
    },
  };
}

async function writeAll(file: FileHandle, memory: ArrayBuffer, at: number): Promise<void> {
  const bytes = new Uint8Array(memory);
  for (let offset = 0; offset < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, offset, bytes.length - offset, at + offset);
    offset += bytesWritten;
  }
}

async function readAll(file: FileHandle, into: ArrayBuffer, count: number, at: number) {
  const bytes = new Uint8Array(into);
  for (let offset = 0; offset < count; ) {
    const { bytesRead } = await file.read(bytes, offset, count - offset, at + offset);
    if (bytesRead === 0) throw new Error("the stage is cut off");
    offset += bytesRead;
  }
}

/** Rounds up to groups of 64 bits, in which DuckDB takes validity. */
const align8 = (bytes: number) => Math.ceil(bytes / 8) * 8;

/** Where the parts of a column lie in the memory of its batch. */
interface ColumnPlace {
  readonly field: Omit<BatchColumn, "validity" | "values" | "offsets" | "bytes">;
  readonly validity: Place | undefined;
  readonly values: Place;
  /** Offsets of texts: `values` are their bytes. */
  readonly offsets: Place | undefined;
}

interface Place {
  readonly at: number;
  readonly byteCount: number;
}

interface Layout {
  readonly rowCount: number;
  readonly columns: readonly ColumnPlace[];
  readonly meta: ColumnPlace | undefined;
}

/** The batch in memory of its own, and where in it everything is. */
function copied({ rowCount, columns, meta }: StagedBatch): {
  readonly memory: ArrayBuffer;
  readonly layout: Layout;
} {
  const parts: { readonly at: number; readonly bytes: Uint8Array }[] = [];
  let length = 0;
  const keep = (part: ArrayBufferView): Place => {
    const { buffer, byteOffset, byteLength } = part;
    const at = length;
    parts.push({ at, bytes: new Uint8Array(buffer, byteOffset, byteLength) });
    length += align8(byteLength);
    return { at, byteCount: byteLength };
  };
  const placeOf = (column: BatchColumn): ColumnPlace => {
    const validity = column.validity && keep(column.validity.subarray(0, (rowCount + 7) >> 3));
    if ("offsets" in column) {
      const { validity: _, offsets, bytes, ...field } = column;
      return { field, validity, offsets: keep(offsets), values: keep(bytes) };
    }
    const { validity: _, values, ...field } = column;
    return { field, validity, offsets: undefined, values: keep(values) };
  };
  const layout = { rowCount, columns: columns.map(placeOf), meta: meta && placeOf(meta) };
  const memory = new ArrayBuffer(length);
  const bytes = new Uint8Array(memory);
  for (const part of parts) bytes.set(part.bytes, part.at);
  return { memory, layout };
}

/** The batch that lies in the memory. */
function viewOf({ rowCount, columns, meta }: Layout, memory: ArrayBuffer): StagedBatch {
  const bytesAt = ({ at, byteCount }: Place) => new Uint8Array(memory, at, byteCount);
  const columnOf = ({ field, validity, values, offsets }: ColumnPlace): BatchColumn => {
    const own = { ...field, validity: validity && bytesAt(validity) };
    const { at, byteCount } = values;
    if (offsets)
      return {
        ...own,
        offsets: new Uint32Array(memory, offsets.at, rowCount + 1),
        bytes: bytesAt(values),
      } as BatchColumn;
    const View = views[field.encoding] ?? Uint8Array;
    const count = byteCount / View.BYTES_PER_ELEMENT;
    return { ...own, values: new View(memory, at, count) } as BatchColumn;
  };
  return { rowCount, columns: columns.map(columnOf), meta: meta && columnOf(meta) };
}

/** Views of values that are no bytes. */
const views: Readonly<
  Partial<
    Record<
      BatchColumn["encoding"],
      Int32ArrayConstructor | Float64ArrayConstructor | BigInt64ArrayConstructor
    >
  >
> = {
  int32: Int32Array,
  date32: Int32Array,
  float64: Float64Array,
  int64: BigInt64Array,
  decimal64: BigInt64Array,
  time64: BigInt64Array,
  timestamp64: BigInt64Array,
};
