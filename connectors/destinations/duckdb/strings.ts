/**
 * Texts into a vector of DuckDB, all with one call. The texts of a vector lie one behind the other
 * already: given as one text, DuckDB keeps a copy of them, says where it is, and each element is
 * described by 16 bytes, as duckdb.h says of `duckdb_string_t`: its length, and up to 12 bytes of
 * it, or its first four and where it lies. One call a text would cost three times as much.
 *
 * The layout is a public one, but C has no check for it. So the first use tries it, reads the texts
 * back, and one call a text is made for good when they are not the same.
 */
import { createRequire } from "node:module";
import { bindings, type Vector } from "./bindings.ts";

/** Rows of a vector. */
export const vectorRows = 2048;

export interface Texts {
  /** One more than there are texts. */
  readonly offsets: Uint32Array;
  readonly bytes: Uint8Array;
}

export const textAt = ({ bytes, offsets }: Texts, row: number): Buffer =>
  Buffer.from(
    bytes.buffer,
    bytes.byteOffset + (offsets[row] as number),
    (offsets[row + 1] as number) - (offsets[row] as number),
  );

/** Writes the texts from one row on to the beginning of a vector. */
export type WriteTexts = (vector: Vector, texts: Texts, from: number, rowCount: number) => void;

let chosen: WriteTexts | undefined;

/** The way that works with the DuckDB that is loaded. */
export function textsWriter(): WriteTexts {
  chosen ??= givesBack(describeTexts) ? describeTexts : assignTexts;
  return chosen;
}

/** One call a text. */
export const assignTexts: WriteTexts = (vector, { offsets, bytes }, from, rowCount) => {
  const { vector_assign_string_element_len: assign } = bindings();
  for (let row = 0; row < rowCount; row++)
    assign(vector, row, bytes.subarray(offsets[from + row], offsets[from + row + 1]));
};

const descriptionBytes = 16;
const inlineBytes = 12;
const described = new ArrayBuffer(vectorRows * descriptionBytes);
const words = new Uint32Array(described);
const characters = new Uint8Array(described);

/** One call for all. */
export const describeTexts: WriteTexts = (vector, { offsets, bytes }, from, rowCount) => {
  const { vector_assign_string_element_len, vector_get_data, copy_data_to_vector } = bindings();
  const start = offsets[from] as number;
  const length = (offsets[from + rowCount] as number) - start;
  let low = 0;
  let high = 0;
  // Up to 12 bytes would be kept in the description itself; and then no element needs a place.
  if (length > inlineBytes) {
    vector_assign_string_element_len(vector, 0, bytes.subarray(start, start + length));
    const first = vector_get_data(vector, descriptionBytes);
    const description = new DataView(first.buffer, first.byteOffset, descriptionBytes);
    low = description.getUint32(8, true);
    high = description.getUint32(12, true);
  }
  let at = start;
  for (let row = 0; row < rowCount; row++) {
    const end = offsets[from + row + 1] as number;
    const word = row * 4;
    words[word] = end - at;
    if (end - at > inlineBytes) {
      words[word + 1] =
        (bytes[at] as number) |
        ((bytes[at + 1] as number) << 8) |
        ((bytes[at + 2] as number) << 16) |
        ((bytes[at + 3] as number) << 24);
      const place = low + (at - start);
      words[word + 2] = place;
      words[word + 3] = place >= 2 ** 32 ? high + 1 : high;
    } else {
      words[word + 1] = 0;
      words[word + 2] = 0;
      words[word + 3] = 0;
      const byte = row * descriptionBytes + 4 - at;
      for (let from = at; from < end; from++) characters[byte + from] = bytes[from] as number;
    }
    at = end;
  }
  copy_data_to_vector(vector, 0, described, 0, rowCount * descriptionBytes);
};

/** Whether texts of all forms come back as they were written. */
export function givesBack(write: WriteTexts): boolean {
  const probes = [
    "",
    "a",
    "x".repeat(12),
    "x".repeat(13),
    "ä€😀".repeat(20),
    "\0",
    "y".repeat(999),
  ];
  const bytes = Buffer.from(probes.join(""));
  const offsets = new Uint32Array(probes.length + 1);
  probes.forEach((text, row) => {
    offsets[row + 1] = (offsets[row] as number) + Buffer.byteLength(text);
  });
  const require = createRequire(import.meta.url);
  const { DuckDBDataChunk, VARCHAR } =
    require("@duckdb/node-api") as typeof import("@duckdb/node-api");
  try {
    const chunk = DuckDBDataChunk.create([VARCHAR], probes.length);
    write(bindings().data_chunk_get_vector(chunk.chunk, 0), { offsets, bytes }, 0, probes.length);
    return chunk.getColumnValues(0).every((value, row) => value === probes[row]);
  } catch {
    return false;
  }
}
