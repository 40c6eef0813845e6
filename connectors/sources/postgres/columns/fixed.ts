/**
 * Values that all have the same width. Each kind has a loop of its own: one for all is several
 * times slower.
 */
import type { ColumnValues } from "svc-connectors";
import { shortestFloat } from "./floats.ts";
import { daysBefore1970, microsecondsBefore1970 } from "./instants.ts";
import { type Block, Validity, type Values } from "./values.ts";

/** The loop of a kind: gives how many values it took. */
type Fill = (block: Block, from: number, count: number, row: number, validity: Validity) => number;

interface FixedOptions {
  readonly wireBytes: number;
  readonly rowBytes: number;
  readonly capacity: number;
  readonly fill: Fill;
  /** Rows that the loop drops although they have a value. */
  readonly lost?: number[] | undefined;
  readonly get: (rowCount: number) => ColumnValues;
}

export function fixedValues(options: FixedOptions): Values {
  const { wireBytes, rowBytes, capacity, fill, get, lost = [] } = options;
  const validity = new Validity(capacity);
  return {
    wireBytes,
    rowBytes,
    lost,
    add: (block, from, count, row) => fill(block, from, count, row, validity),
    widen() {},
    clear() {
      validity.clear();
      lost.length = 0;
    },
    get: (rowCount) => ({ ...get(rowCount), validity: validity.upTo(rowCount) }),
  };
}

export function booleans(capacity: number): Values {
  const values = new Uint8Array(capacity);
  return fixedValues({
    wireBytes: 1,
    rowBytes: 1,
    capacity,
    get: (rowCount) => ({ encoding: "bool", values: values.subarray(0, rowCount) }),
    fill({ bytes, starts }, from, count, row, validity) {
      for (let index = 0; index < count; index++) {
        const at = starts[from + index] as number;
        values[row + index] = at === 0 ? 0 : (bytes[at] as number);
        if (at === 0) validity.drop(row + index);
      }
      return count;
    },
  });
}

/** int2, int4 */
export function integers(capacity: number, wireBytes: 2 | 4): Values {
  const values = new Int32Array(capacity);
  return fixedValues({
    wireBytes,
    rowBytes: 4,
    capacity,
    get: (rowCount) => ({ encoding: "int32", values: values.subarray(0, rowCount) }),
    fill({ view, starts }, from, count, row, validity) {
      for (let index = 0; index < count; index++) {
        const at = starts[from + index] as number;
        if (at === 0) {
          values[row + index] = 0;
          validity.drop(row + index);
        } else values[row + index] = wireBytes === 4 ? view.getInt32(at) : view.getInt16(at);
      }
      return count;
    },
  });
}

/** oid: 32 bits without a sign. */
export function oids(capacity: number): Values {
  const { values, halves } = createLongs(capacity);
  return fixedValues({
    wireBytes: 4,
    rowBytes: 8,
    capacity,
    get: (rowCount) => ({ encoding: "int64", values: values.subarray(0, rowCount) }),
    fill({ view, starts }, from, count, row, validity) {
      for (let index = 0; index < count; index++) {
        const at = starts[from + index] as number;
        halves[(row + index) * 2] = at === 0 ? 0 : view.getInt32(at);
        if (at === 0) validity.drop(row + index);
      }
      return count;
    },
  });
}

/** int8, time and float8 lie on the wire as here, with their bytes turned round. */
export function longs(capacity: number, encoding: "int64" | "time64" | "float64"): Values {
  const { values, halves } = createLongs(capacity);
  const doubles = new Float64Array(values.buffer);
  return fixedValues({
    wireBytes: 8,
    rowBytes: 8,
    capacity,
    get: (rowCount) =>
      encoding === "float64"
        ? { encoding, values: doubles.subarray(0, rowCount) }
        : { encoding, values: values.subarray(0, rowCount) },
    fill({ view, starts }, from, count, row, validity) {
      for (let index = 0; index < count; index++) {
        const at = starts[from + index] as number;
        const to = (row + index) * 2;
        if (at === 0) {
          halves[to] = 0;
          halves[to + 1] = 0;
          validity.drop(row + index);
        } else {
          halves[to] = view.getInt32(at + 4);
          halves[to + 1] = view.getInt32(at);
        }
      }
      return count;
    },
  });
}

/** float4, as the double that is written with the same digits. */
export function floats(capacity: number): Values {
  const values = new Float64Array(capacity);
  return fixedValues({
    wireBytes: 4,
    rowBytes: 8,
    capacity,
    get: (rowCount) => ({ encoding: "float64", values: values.subarray(0, rowCount) }),
    fill({ view, starts }, from, count, row, validity) {
      for (let index = 0; index < count; index++) {
        const at = starts[from + index] as number;
        values[row + index] = at === 0 ? 0 : shortestFloat(view.getFloat32(at));
        if (at === 0) validity.drop(row + index);
      }
      return count;
    },
  });
}

const largestInt = 2 ** 31 - 1;

/** date: days since 2000; the largest and the smallest are infinity. */
export function dates(capacity: number): Values {
  const values = new Int32Array(capacity);
  return fixedValues({
    wireBytes: 4,
    rowBytes: 4,
    capacity,
    get: (rowCount) => ({ encoding: "date32", values: values.subarray(0, rowCount) }),
    fill({ view, starts }, from, count, row, validity) {
      for (let index = 0; index < count; index++) {
        const at = starts[from + index] as number;
        if (at === 0) {
          values[row + index] = 0;
          validity.drop(row + index);
          continue;
        }
        const days = view.getInt32(at);
        if (days === largestInt) values[row + index] = largestInt;
        else if (days === -largestInt - 1) values[row + index] = -largestInt;
        else values[row + index] = days - daysBefore1970;
      }
      return count;
    },
  });
}

const two32 = 2 ** 32;
const shiftLow = Number(BigInt.asUintN(32, -microsecondsBefore1970));
const shiftHigh = Number(-microsecondsBefore1970 >> 32n);

/**
 * timestamp and timestamptz: microseconds since 2000; the largest and the smallest are infinity.
 * Those of the last thirty years before PostgreSQL's end, 294,276, are not taken.
 */
export function instants(capacity: number): Values {
  const { values, halves } = createLongs(capacity);
  return fixedValues({
    wireBytes: 8,
    rowBytes: 8,
    capacity,
    get: (rowCount) => ({ encoding: "timestamp64", values: values.subarray(0, rowCount) }),
    fill({ view, starts }, from, count, row, validity) {
      for (let index = 0; index < count; index++) {
        const at = starts[from + index] as number;
        const to = (row + index) * 2;
        if (at === 0) {
          halves[to] = 0;
          halves[to + 1] = 0;
          validity.drop(row + index);
          continue;
        }
        const high = view.getInt32(at);
        const low = view.getUint32(at + 4);
        if (high === largestInt && low === two32 - 1) {
          halves[to] = -1;
          halves[to + 1] = largestInt;
        } else if (high === -largestInt - 1 && low === 0) {
          halves[to] = 1;
          halves[to + 1] = high;
        } else {
          const sum = low + shiftLow;
          const upper = high + shiftHigh + (sum >= two32 ? 1 : 0);
          if (upper >= largestInt) return index;
          halves[to] = sum | 0;
          halves[to + 1] = upper;
        }
      }
      return count;
    },
  });
}

export function uuids(capacity: number): Values {
  const values = new Uint8Array(capacity * 16);
  const out = new DataView(values.buffer);
  return fixedValues({
    wireBytes: 16,
    rowBytes: 16,
    capacity,
    get: (rowCount) => ({ encoding: "uuid128", values: values.subarray(0, rowCount * 16) }),
    fill({ view, starts }, from, count, row, validity) {
      for (let index = 0; index < count; index++) {
        const at = starts[from + index] as number;
        const to = (row + index) * 16;
        if (at === 0) {
          values.fill(0, to, to + 16);
          validity.drop(row + index);
          continue;
        }
        out.setInt32(to, view.getInt32(at));
        out.setInt32(to + 4, view.getInt32(at + 4));
        out.setInt32(to + 8, view.getInt32(at + 8));
        out.setInt32(to + 12, view.getInt32(at + 12));
      }
      return count;
    },
  });
}

/** Numbers of 64 bits, and their halves: the lower one first. */
export function createLongs(capacity: number) {
  const values = new BigInt64Array(capacity);
  return { values, halves: new Int32Array(values.buffer) };
}
