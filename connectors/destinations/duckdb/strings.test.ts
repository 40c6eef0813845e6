import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { bindings } from "./bindings.ts";
import {
  assignTexts,
  describeTexts,
  givesBack,
  textsWriter,
  vectorRows,
  type WriteTexts,
} from "./strings.ts";

let duckdb: typeof import("@duckdb/node-api");
beforeAll(async () => {
  duckdb = await import("@duckdb/node-api");
});

/** The texts of a vector as DuckDB gives them back. */
function written(write: WriteTexts, texts: readonly string[], from = 0): unknown[] {
  const offsets = new Uint32Array(texts.length + 1);
  texts.forEach((text, row) => {
    offsets[row + 1] = (offsets[row] as number) + Buffer.byteLength(text);
  });
  const chunk = duckdb.DuckDBDataChunk.create([duckdb.VARCHAR], texts.length - from);
  const vector = bindings().data_chunk_get_vector(chunk.chunk, 0);
  write(vector, { offsets, bytes: Buffer.from(texts.join("")) }, from, texts.length - from);
  return chunk.getColumnValues(0);
}

describe.each([
  ["one call for all texts", describeTexts],
  ["one call a text", assignTexts],
] as const)("%s", (_, write) => {
  test.each([
    ["nothing but empty ones", ["", "", ""]],
    ["12 bytes together, which DuckDB keeps in place", ["abcdef", "ghijkl"]],
    ["13 bytes together, none of them long", ["abcdefg", "hijklm"]],
    ["a long one alone", ["x".repeat(100_000)]],
    ["long ones between short ones", ["", "a".repeat(12), "b".repeat(13), "c", "d".repeat(5_000)]],
    ["a full vector", Array.from({ length: vectorRows }, (_, row) => "t".repeat(row % 30))],
  ])("%s come back", (_name, texts) => {
    expect(written(write, texts)).toEqual(texts);
  });

  test("any texts come back, from any row on", () => {
    const text = fc.string({ unit: "binary", maxLength: 30 });
    const cases = fc
      .array(text, { minLength: 1, maxLength: 100 })
      .chain((texts) => fc.tuple(fc.constant(texts), fc.nat(texts.length - 1)));
    fc.assert(
      fc.property(cases, ([texts, from]) => {
        expect(written(write, texts, from)).toEqual(texts.slice(from));
      }),
      { numRuns: 50 },
    );
  });

  test("passes the trial of the first use", () => {
    expect(givesBack(write)).toBe(true);
  });
});

test.each<[string, WriteTexts]>([
  [
    "writes other texts",
    (vector, texts, from, count) =>
      assignTexts(vector, { ...texts, bytes: texts.bytes.map(() => 0x61) }, from, count),
  ],
  [
    "fails",
    () => {
      throw new Error("another layout");
    },
  ],
])("a way that %s does not pass the trial", (_, write) => {
  expect(givesBack(write)).toBe(false);
});

test("with this DuckDB all texts are given at once", () => {
  expect(textsWriter()).toBe(describeTexts);
});
