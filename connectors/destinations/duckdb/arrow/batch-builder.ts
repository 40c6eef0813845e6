/** Chunks of DuckDB into record batches of some MiB, whatever a row takes. */
import type { DuckDBDataChunk } from "@duckdb/node-api";
import { makeData, RecordBatch, Schema, Struct } from "apache-arrow";
import { bindings } from "../bindings.ts";
import type { ArrowColumn } from "./columns.ts";

/** Bytes of a batch of several rows, about. */
const batchBytes = 8 * 1024 * 1024;
const maxRows = 64 * 1024;

export function createBatchBuilder(columns: readonly ArrowColumn[]) {
  const { data_chunk_get_vector } = bindings();
  const schema = new Schema(columns.map(({ field }) => field));
  const all = columns.map(({ field, createValues }) => createValues(field.type));
  const rowBytes = all.reduce((sum, values) => sum + values.rowBytes, 1);
  let rowCount = 0;
  let bytes = 0;

  function take(): RecordBatch {
    const children = all.map((values) => values.get());
    return new RecordBatch(
      schema,
      makeData({ type: new Struct(schema.fields), length: rowCount, nullCount: 0, children }),
    );
  }

  function clear(): void {
    for (const values of all) values.clear();
    rowCount = 0;
    bytes = 0;
  }

  return {
    /** Gives the batches that the chunk fills; each is valid until the next one is asked for. */
    *add({ chunk, rowCount: added }: DuckDBDataChunk): Generator<RecordBatch, void, undefined> {
      const vectors = all.map((_, index) => data_chunk_get_vector(chunk, index));
      const sizes = new Float64Array(added).fill(rowBytes);
      all.forEach((values, index) => {
        values.addSizes?.(vectors[index] as (typeof vectors)[number], sizes);
      });
      for (let from = 0; from < added; ) {
        let end = from;
        do bytes += sizes[end++] as number;
        while (end < added && bytes < batchBytes && rowCount + end - from < maxRows);
        all.forEach((values, index) => {
          values.add(vectors[index] as (typeof vectors)[number], from, end - from);
        });
        rowCount += end - from;
        from = end;
        if (bytes < batchBytes && rowCount < maxRows) continue;
        yield take();
        clear();
      }
    },
    /** The rows that are left. */
    finish: (): RecordBatch | undefined => (rowCount === 0 ? undefined : take()),
  };
}
