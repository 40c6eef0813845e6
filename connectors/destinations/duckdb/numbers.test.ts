import type { BatchColumn } from "svc-connectors/destination";
import { expect, test } from "vitest";
import { numbersBeyond } from "./numbers.ts";

/** Null is a text without length. */
function columnOf(texts: readonly (string | null)[]): BatchColumn {
  const offsets = new Uint32Array(texts.length + 1);
  const validity = new Uint8Array(Math.ceil(texts.length / 8));
  let at = 0;
  for (const [row, text] of texts.entries()) {
    at += text?.length ?? 0;
    offsets[row + 1] = at;
    if (text !== null) validity[row >> 3] = (validity[row >> 3] as number) | (1 << (row & 7));
  }
  const bytes = Buffer.from(texts.join(""));
  const column = { name: "n", kind: "number", encoding: "number", isKey: false };
  return { ...column, offsets, bytes, validity } as unknown as BatchColumn;
}

const isBeyond = (type: string, ...texts: (string | null)[]) =>
  numbersBeyond(columnOf(texts), texts.length, type) !== undefined;

test("numbers that are written as texts fit a type exactly where it holds their digits", () => {
  expect(isBeyond("DECIMAL(18,3)", "1.5", null, "-000123456789012345.678", "0.001")).toBe(false);
  expect(isBeyond("DECIMAL(18,3)", "1.5", "1234567890123456.5")).toBe(true);
  expect(isBeyond("DECIMAL(18,3)", "1.5", "0.0001")).toBe(true);
  expect(isBeyond("DECIMAL(18,3)", "0.00100000", "1e3")).toBe(false);
  expect(isBeyond("DECIMAL(18,3)", "1e-4")).toBe(true);
  expect(isBeyond("BIGINT", "9223372036854775807", "-9223372036854775808", "1.000")).toBe(false);
  expect(isBeyond("BIGINT", "9223372036854775808")).toBe(true);
  expect(isBeyond("BIGINT", "1", "0.5")).toBe(true);
  expect(isBeyond("SMALLINT", "-32768", "9999", "00007")).toBe(false);
  expect(isBeyond("SMALLINT", "32768")).toBe(true);
  expect(isBeyond("DOUBLE", "0.1", "123456789.123456", "9007199254740992")).toBe(false);
  expect(isBeyond("DOUBLE", "0.1", "9007199254740993")).toBe(true);
});

test("what is no number at all fits a text only", () => {
  for (const text of ["1.", ".5", "-", "1.5.5", "+1", "1 "]) {
    expect(isBeyond("DECIMAL(18,3)", text), text).toBe(true);
    expect(isBeyond("VARCHAR", text), text).toBe(false);
  }
});
