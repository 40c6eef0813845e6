/** Values of any length, one behind the other. */
import { type Block, nothingLost, Validity, type Values } from "./values.ts";

type TextEncoding = "utf8" | "json" | "number" | "binary";

const firstBytes = 4 * 1024;
/** Memory beyond this is given back when the batch is over. */
const keptBytes = 4 * 1024 * 1024;
/** A loop is faster than a call for this many bytes. */
const loopedBytes = 48;

/** Bytes of texts that are written one after another into memory that grows. */
export class TextBytes {
  bytes: Buffer = Buffer.allocUnsafeSlow(firstBytes);
  length = 0;

  reserve(count: number): void {
    if (this.bytes.length - this.length >= count) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(this.bytes.length * 2, this.length + count));
    this.bytes.copy(larger, 0, 0, this.length);
    this.bytes = larger;
  }

  copy(from: Buffer, start: number, end: number): void {
    this.reserve(end - start);
    const { bytes } = this;
    let to = this.length;
    this.length += end - start;
    if (end - start > loopedBytes) from.copy(bytes, to, start, end);
    else for (let at = start; at < end; at++) bytes[to++] = from[at] as number;
  }

  text(value: string): void {
    this.reserve(value.length * 3);
    this.length += this.bytes.write(value, this.length, "utf8");
  }

  clear(): void {
    this.length = 0;
    if (this.bytes.length > keptBytes) this.bytes = Buffer.allocUnsafeSlow(firstBytes);
  }
}

interface TextOptions {
  readonly capacity: number;
  readonly encoding: TextEncoding;
  /** Writes the value that lies between two places. */
  readonly write: (out: TextBytes, block: Block, start: number, end: number) => void;
  readonly growth?: Values["growth"];
}

/** Values that are written by a function. */
export function writtenValues({ capacity, encoding, write, growth }: TextOptions): Values {
  return textValues(capacity, encoding, growth, (out, offsets, validity) => {
    return (block, from, count, row) => {
      const { view, starts } = block;
      for (let index = 0; index < count; index++) {
        const at = starts[from + index] as number;
        if (at === 0) validity.drop(row + index);
        else write(out, block, at, at + view.getInt32(at - 4));
        offsets[row + index + 1] = out.length;
      }
      return count;
    };
  });
}

/** Values as they lie on the wire. */
export function copiedValues(capacity: number, encoding: "utf8" | "binary"): Values {
  return textValues(capacity, encoding, undefined, (out, offsets, validity) => {
    return ({ bytes, view, starts }, from, count, row) => {
      for (let index = 0; index < count; index++) {
        const at = starts[from + index] as number;
        if (at === 0) validity.drop(row + index);
        else out.copy(bytes, at, at + view.getInt32(at - 4));
        offsets[row + index + 1] = out.length;
      }
      return count;
    };
  });
}

function textValues(
  capacity: number,
  encoding: TextEncoding,
  growth: Values["growth"],
  createAdd: (out: TextBytes, offsets: Uint32Array, validity: Validity) => Values["add"],
): Values {
  const out = new TextBytes();
  const offsets = new Uint32Array(capacity + 1);
  const validity = new Validity(capacity);
  return {
    wireBytes: 0,
    rowBytes: 4,
    growth,
    lost: nothingLost,
    add: createAdd(out, offsets, validity),
    widen() {},
    clear() {
      out.clear();
      validity.clear();
    },
    get(rowCount) {
      const bytes = out.bytes.subarray(0, offsets[rowCount]);
      return {
        encoding,
        offsets: offsets.subarray(0, rowCount + 1),
        bytes,
        validity: validity.upTo(rowCount),
      };
    },
  };
}
