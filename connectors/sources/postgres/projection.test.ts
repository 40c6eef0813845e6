import { expect, test } from "vitest";
import { createSpareValues } from "./projection.ts";
import { toValueType } from "./types.ts";

const integer = toValueType({ oid: 23, delimiter: null, modifier: -1, isEnum: false });
const text = toValueType({ oid: 25, delimiter: null, modifier: -1, isEnum: false });

/** A row of one field that is null. */
const nullRow = {
  bytes: Buffer.alloc(8),
  view: new DataView(new ArrayBuffer(8)),
  starts: new Int32Array(1),
};

test("memory that was given back serves the next columns of the type, without the rows before", () => {
  const spare = createSpareValues();
  const first = spare.take(integer, 64, false);
  expect(spare.take(integer, 64, false)).not.toBe(first);
  first.add(nullRow, 0, 1, 0);
  expect(first.get(1).validity?.[0]).toBe(0xfe);
  spare.giveBack();
  const again = [spare.take(integer, 32, false), spare.take(integer, 64, false)];
  expect(again).toContain(first);
  expect(first.get(1).validity).toBeUndefined();
});

test("memory for fewer rows, of a key, or of another type is not what is asked for", () => {
  const spare = createSpareValues();
  const first = spare.take(integer, 64, false);
  spare.giveBack();
  expect(spare.take(integer, 65, false)).not.toBe(first);
  expect(spare.take(integer, 64, true)).not.toBe(first);
  expect(spare.take(text, 64, false)).not.toBe(first);
  expect(spare.take(integer, 64, false)).toBe(first);
});

test("what was not given back is in use", () => {
  const spare = createSpareValues();
  const first = spare.take(integer, 64, false);
  expect(spare.take(integer, 64, false)).not.toBe(first);
});
