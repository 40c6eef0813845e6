import type { ColumnKind, ColumnValues } from "svc-connectors";
import { textEncodings } from "svc-connectors/database";
import type { Values } from "./values.ts";

/**
 * A property that its column cannot fill, because one of both has changed since it was discovered:
 * null in every row, and noted where the column has a value.
 */
export function emptyValues(capacity: number, kind: ColumnKind): Values {
  const lost: number[] = [];
  const validity = new Uint8Array((capacity + 7) >> 3);
  const offsets = new Uint32Array(capacity + 1);
  const bytes = new Uint8Array(0);
  const flags = new Uint8Array(kind === "boolean" ? capacity : 0);
  const get = (rowCount: number): ColumnValues =>
    kind === "boolean"
      ? { encoding: "bool", values: flags.subarray(0, rowCount) }
      : { encoding: textEncodings[kind], offsets: offsets.subarray(0, rowCount + 1), bytes };
  return {
    wireBytes: 0,
    rowBytes: 100, // a note takes more than a value
    lost,
    add({ starts }, from, count, row) {
      for (let index = 0; index < count; index++)
        if (starts[from + index] !== 0) lost.push(row + index);
      return count;
    },
    widen() {},
    clear() {
      lost.length = 0;
    },
    get: (rowCount) => ({ ...get(rowCount), validity: validity.subarray(0, (rowCount + 7) >> 3) }),
  };
}
