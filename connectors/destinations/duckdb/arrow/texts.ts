/**
 * Texts out of a vector of DuckDB, in few calls. Each is described by 16 bytes, as duckdb.h says of
 * `duckdb_string_t`: its length, and up to 12 bytes of it, or four of them and where it lies. Those
 * that lie side by side are read with one call: one call a text would cost five times as much.
 */
import type { Bindings, Vector } from "../bindings.ts";
import type { Bytes } from "./bytes.ts";

const descriptionBytes = 16;
const inlineBytes = 12;
/** A loop is faster than a call for this many bytes. */
const loopedBytes = 48;

interface DescribedTexts {
  /** Length of the value of a row that is not null. */
  lengthOf(row: number): number;
  addressOf(row: number): number;
  /** The bytes from where the long text of the row lies on. */
  readFrom(row: number, length: number): Uint8Array;
  /** The bytes of a short text. */
  inlineOf(row: number, length: number): Uint8Array;
}

export function describeTexts(
  { vector_get_data, get_data_from_pointer }: Bindings,
  vector: Vector,
  rowCount: number,
): DescribedTexts {
  const source = vector_get_data(vector, rowCount * descriptionBytes);
  const { buffer, byteOffset, byteLength } = source;
  const view = new DataView(buffer, byteOffset, byteLength);
  return {
    lengthOf: (row) => view.getUint32(row * descriptionBytes, true),
    addressOf: (row) =>
      view.getUint32(row * descriptionBytes + 12, true) * 2 ** 32 +
      view.getUint32(row * descriptionBytes + 8, true),
    readFrom: (row, length) =>
      get_data_from_pointer(buffer as ArrayBuffer, byteOffset + row * descriptionBytes + 8, length),
    inlineOf: (row, length) =>
      source.subarray(row * descriptionBytes + 4, row * descriptionBytes + 4 + length),
  };
}

/** Copies texts one behind the other; all are there after `finish`. */
export function createCopy(
  { lengthOf, addressOf, readFrom, inlineOf }: DescribedTexts,
  into: Bytes,
) {
  // Texts that lie side by side, up or down: where their memory begins and ends, and the row there.
  let low = 0;
  let high = 0;
  let lowRow = 0;
  const addresses: number[] = [];
  const lengths: number[] = [];
  const targets: number[] = [];

  function finish(): void {
    if (addresses.length === 0) return;
    const read = readFrom(lowRow, high - low);
    for (let index = 0; index < addresses.length; index++) {
      const length = lengths[index] as number;
      const from = (addresses[index] as number) - low;
      copyBytes(read, from, into.bytes, targets[index] as number, length);
    }
    addresses.length = 0;
    lengths.length = 0;
    targets.length = 0;
  }

  return {
    add(row: number): void {
      const length = lengthOf(row);
      const target = into.extend(length);
      if (length <= inlineBytes) {
        copyBytes(inlineOf(row, length), 0, into.bytes, target, length);
        return;
      }
      const address = addressOf(row);
      if (addresses.length > 0 && address === high) high += length;
      else if (addresses.length > 0 && address + length === low) {
        low = address;
        lowRow = row;
      } else {
        finish();
        low = address;
        high = address + length;
        lowRow = row;
      }
      addresses.push(address);
      lengths.push(length);
      targets.push(target);
    },
    finish,
  };
}

function copyBytes(
  from: Uint8Array,
  start: number,
  to: Uint8Array,
  target: number,
  length: number,
): void {
  if (length > loopedBytes) to.set(from.subarray(start, start + length), target);
  else for (let byte = 0; byte < length; byte++) to[target + byte] = from[start + byte] as number;
}
