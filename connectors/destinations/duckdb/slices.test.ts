import fc from "fast-check";
import { expect, test } from "vitest";
import { type ColumnOptions, columnOf } from "../../../fixtures/batches.ts";
import { sliceOf } from "./slices.ts";

type Values = Parameters<typeof columnOf>[2];

const columns: readonly (readonly [ColumnOptions, (row: number) => Values[number]])[] = [
  [{ kind: "boolean", encoding: "bool" }, (row) => row % 2 === 0],
  [{ kind: "integer", encoding: "int32" }, (row) => row],
  [{ kind: "integer", encoding: "int64" }, BigInt],
  [{ kind: "number", encoding: "float64" }, (row) => row / 3],
  [{ kind: "number", encoding: "decimal128", scale: 2 }, (row) => BigInt(row) * 10n ** 20n],
  [{ kind: "uuid", encoding: "uuid128" }, (row) => new Uint8Array(16).fill(row)],
  [{ kind: "text", encoding: "utf8" }, (row) => "x".repeat(row % 20)],
  [{ kind: "json", encoding: "json" }, (row) => `[${row}]`],
];

test("the rows of a slice are those of the batch, in each encoding, from any row to any other", () => {
  const cases = fc
    .tuple(fc.array(fc.boolean(), { minLength: 1, maxLength: 50 }), fc.nat(), fc.nat())
    .map(([isThere, a, b]) => {
      const [one, other] = [a % (isThere.length + 1), b % (isThere.length + 1)];
      return { isThere, from: Math.min(one, other), to: Math.max(one, other) };
    });
  fc.assert(
    fc.property(cases, ({ isThere, from, to }) => {
      const valuesOf = (make: (row: number) => Values[number], first: number, end: number) =>
        isThere.map((is, row) => (is ? make(row) : null)).slice(first, end);
      const batchOf = (first: number, end: number) =>
        columns.map(([options, make], index) =>
          columnOf(`c${index}`, options, valuesOf(make, first, end)),
        );
      const whole = { rowCount: isThere.length, columns: batchOf(0, isThere.length) };
      const slice = sliceOf(whole, from, to);
      expect(slice.rowCount).toBe(to - from);
      slice.columns.forEach((column, index) => {
        const expected = batchOf(from, to)[index];
        // A slice without nulls may say so by bits.
        const bits = new Uint8Array((to - from + 7) >> 3);
        for (let row = 0; row < to - from; row++)
          bits[row >> 3] = (bits[row >> 3] as number) | (1 << (row & 7));
        const withBits = (one: typeof expected) =>
          one && { ...one, validity: one.validity ?? bits };
        expect(plain(withBits(column))).toEqual(plain(withBits(expected)));
      });
    }),
  );
});

/** Views as lists, so that what lies around them does not count. */
const plain = (column: object | undefined) =>
  Object.fromEntries(
    Object.entries(column ?? {}).map(([name, value]) => [
      name,
      ArrayBuffer.isView(value) ? [...(value as Uint8Array)] : value,
    ]),
  );
