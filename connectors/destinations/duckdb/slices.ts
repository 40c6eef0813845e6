import { type BatchColumn, isValid } from "svc-connectors/destination";
import type { StagedBatch } from "./stage.ts";

/** Some rows of a batch, in the batch's memory where that goes. */
export function sliceOf({ columns, meta }: StagedBatch, from: number, to: number): StagedBatch {
  return {
    rowCount: to - from,
    columns: columns.map((column) => sliceColumn(column, from, to)),
    meta: meta && sliceColumn(meta, from, to),
  };
}

function sliceColumn(column: BatchColumn, from: number, to: number): BatchColumn {
  const validity = column.validity && sliceBits(column, from, to);
  if ("offsets" in column) {
    const start = column.offsets[from] as number;
    const offsets = column.offsets.slice(from, to + 1).map((offset) => offset - start);
    return {
      ...column,
      validity,
      offsets,
      bytes: column.bytes.subarray(start, column.offsets[to]),
    };
  }
  const { values, encoding } = column;
  const width = encoding === "uuid128" || encoding === "decimal128" ? 16 : 1;
  return { ...column, validity, values: values.subarray(from * width, to * width) } as BatchColumn;
}

function sliceBits(column: BatchColumn, from: number, to: number): Uint8Array {
  const bits = new Uint8Array((to - from + 7) >> 3);
  for (let row = from; row < to; row++) {
    const at = row - from;
    if (isValid(column, row)) bits[at >> 3] = (bits[at >> 3] as number) | (1 << (at & 7));
  }
  return bits;
}
