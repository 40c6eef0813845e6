/**
 * The values of one column of the batch that is being built; the memory is used again for the next
 * one.
 */
import { type Bool, type Data, type DataType, type Int64, makeData, type Utf8 } from "apache-arrow";
import { type Bindings, bindings, type Vector } from "../bindings.ts";
import { Bytes } from "./bytes.ts";
import { createCopy, describeTexts } from "./texts.ts";

export interface Values {
  /** Adds what the vector has from one row on. */
  add(vector: Vector, from: number, count: number): void;
  /** The values that were added. */
  get(): Data;
  clear(): void;
  /** Bytes that a row takes, at least. */
  readonly rowBytes: number;
  /** Adds to each row the bytes of its text. */
  readonly addSizes?: (vector: Vector, sizes: Float64Array) => void;
}

export type CreateValues = (type: DataType) => Values;

/** A bit for each row, the lowest first. */
class Bits {
  readonly #bytes = new Bytes();
  rowCount = 0;

  push(bit: boolean): void {
    const row = this.rowCount++;
    if ((row & 7) === 0) {
      const at = this.#bytes.extend(1);
      this.#bytes.bytes[at] = 0;
    }
    const { bytes } = this.#bytes;
    if (bit) bytes[row >> 3] = (bytes[row >> 3] as number) | (1 << (row & 7));
  }

  get(): Uint8Array {
    return this.#bytes.get();
  }

  clear(): void {
    this.#bytes.length = 0;
    this.rowCount = 0;
  }
}

/** Which rows have a value, as DuckDB tells it; undefined: all. */
function validityOf(duckdb: Bindings, vector: Vector, rowCount: number): Uint8Array | undefined {
  // Null when the vector has no such bits, which its declaration leaves out.
  const found: Uint8Array | null = duckdb.vector_get_validity(vector, Math.ceil(rowCount / 64) * 8);
  return found ?? undefined;
}

const isSet = (bits: Uint8Array | undefined, row: number) =>
  bits === undefined || ((bits[row >> 3] as number) & (1 << (row & 7))) !== 0;

class Nulls {
  readonly #bits = new Bits();
  #count = 0;

  add(validity: Uint8Array | undefined, from: number, count: number): void {
    for (let row = from; row < from + count; row++) {
      const hasValue = isSet(validity, row);
      this.#bits.push(hasValue);
      if (!hasValue) this.#count++;
    }
  }

  get() {
    const length = this.#bits.rowCount;
    return this.#count === 0
      ? { length, nullCount: 0 }
      : { length, nullCount: this.#count, nullBitmap: this.#bits.get() };
  }

  clear(): void {
    this.#bits.clear();
    this.#count = 0;
  }
}

export const bits: CreateValues = (type) => {
  const duckdb = bindings();
  const nulls = new Nulls();
  const values = new Bits();
  return {
    rowBytes: 1,
    add(vector, from, count) {
      const validity = validityOf(duckdb, vector, from + count);
      const source = duckdb.vector_get_data(vector, from + count);
      for (let row = from; row < from + count; row++)
        values.push(isSet(validity, row) && source[row] === 1);
      nulls.add(validity, from, count);
    },
    get: () => makeData({ type: type as Bool, ...nulls.get(), data: values.get() }),
    clear() {
      values.clear();
      nulls.clear();
    },
  };
};

/** Fills `to` with as many values as there is room for. */
type Convert = (from: Uint8Array, to: Uint8Array) => void;

const fixedWith =
  (sourceBytes: number, bytes: number, convert: Convert): CreateValues =>
  (type) => {
    const duckdb = bindings();
    const nulls = new Nulls();
    const values = new Bytes();
    return {
      rowBytes: bytes,
      add(vector, from, count) {
        const validity = validityOf(duckdb, vector, from + count);
        const source = duckdb.vector_get_data(vector, (from + count) * sourceBytes);
        const start = values.extend(count * bytes);
        const target = values.bytes.subarray(start, values.length);
        convert(source.subarray(from * sourceBytes), target);
        // Under a null lies whatever the memory had before: it must not leave.
        if (validity)
          for (let row = 0; row < count; row++)
            if (!isSet(validity, from + row)) target.fill(0, row * bytes, (row + 1) * bytes);
        nulls.add(validity, from, count);
      },
      get: () => makeData({ type: type as Int64, ...nulls.get(), data: values.get() }),
      clear() {
        values.length = 0;
        nulls.clear();
      },
    };
  };

/** Values that lie in Arrow as they do in DuckDB. */
export const fixed = (bytes: number) => fixedWith(bytes, bytes, (from, to) => to.set(from));

/** Integers in two's complement, in more bytes. */
export const signed = (sourceBytes: number, bytes: number) =>
  fixedWith(sourceBytes, bytes, (from, to) => {
    let at = 0;
    for (let start = 0; at < to.length; start += sourceBytes, at += bytes) {
      for (let byte = 0; byte < sourceBytes; byte++) to[at + byte] = from[start + byte] as number;
      const isNegative = (from[start + sourceBytes - 1] as number) >= 0x80;
      to.fill(isNegative ? 0xff : 0, at + sourceBytes, at + bytes);
    }
  });

/** DuckDB has microseconds where Arrow has nanoseconds. */
export const intervals = fixedWith(16, 16, (from, to) => {
  to.set(from);
  const parts = new DataView(to.buffer, to.byteOffset, to.byteLength);
  for (let at = 8; at < to.length; at += 16)
    parts.setBigInt64(at, parts.getBigInt64(at, true) * 1000n, true);
});

/** DuckDB has them as an integer of 128 bits, whose highest bit is turned over for its order. */
export const uuids = fixedWith(16, 16, (from, to) => {
  for (let at = 0; at < to.length; at += 16) {
    for (let byte = 0; byte < 16; byte++) to[at + byte] = from[at + 15 - byte] as number;
    to[at] = (to[at] as number) ^ 0x80;
  }
});

export const texts: CreateValues = (type) => {
  const duckdb = bindings();
  const nulls = new Nulls();
  const offsets = new Bytes();
  const values = new Bytes();
  const begin = () => {
    offsets.length = 0;
    offsets.bytes.fill(0, offsets.extend(4), 4);
  };
  begin();
  return {
    rowBytes: 4,
    add(vector, from, count) {
      const validity = validityOf(duckdb, vector, from + count);
      const described = describeTexts(duckdb, vector, from + count);
      const start = offsets.extend(count * 4);
      const ends = new DataView(offsets.bytes.buffer, start, count * 4);
      const copy = createCopy(described, values);
      for (let row = from; row < from + count; row++) {
        if (isSet(validity, row)) copy.add(row);
        ends.setInt32((row - from) * 4, values.length, true);
      }
      copy.finish();
      nulls.add(validity, from, count);
    },
    get: () =>
      makeData({
        type: type as Utf8,
        ...nulls.get(),
        valueOffsets: new Int32Array(offsets.bytes.buffer, 0, offsets.length / 4),
        data: values.get(),
      }),
    clear() {
      begin();
      values.length = 0;
      nulls.clear();
    },
    addSizes(vector, sizes) {
      const validity = validityOf(duckdb, vector, sizes.length);
      const { lengthOf } = describeTexts(duckdb, vector, sizes.length);
      for (let row = 0; row < sizes.length; row++)
        if (isSet(validity, row)) sizes[row] = (sizes[row] as number) + lengthOf(row);
    },
  };
};
