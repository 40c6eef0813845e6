import { expect, test } from "vitest";
import { rowPieces } from "./row-pieces.ts";

const line = `{"text":"${"x".repeat(1000)}"}\n`;

test("few rows are one piece, as they came", () => {
  const lines = Buffer.from(line.repeat(3));
  const pieces = [...rowPieces(lines, 3)];
  expect(pieces).toHaveLength(1);
  expect(pieces[0]?.[0]).toBe(lines);
});

test("many rows are pieces of whole rows, about a MiB each, in order", () => {
  const lines = Buffer.from(line.repeat(5_000));
  const pieces = [...rowPieces(lines, 5_000)];
  expect(pieces.length).toBeGreaterThan(3);
  expect(Buffer.concat(pieces.map(([piece]) => piece))).toEqual(lines);
  expect(pieces.reduce((sum, [, count]) => sum + count, 0)).toBe(5_000);
  for (const [piece, count] of pieces) {
    expect(piece.length).toBeLessThanOrEqual(1024 * 1024 + line.length);
    expect(piece.toString()).toBe(line.repeat(count));
  }
});

test("a row that is larger than a piece is whole", () => {
  const large = `{"text":"${"x".repeat(3_000_000)}"}\n`;
  const pieces = [...rowPieces(Buffer.from(large + line), 2)];
  expect(pieces.map(([piece]) => piece.length)).toEqual([large.length, line.length]);
});

test.each([4_999, 5_001])("%i rows for 5,000 lines are refused", (rowCount) => {
  expect(() => [...rowPieces(Buffer.from(line.repeat(5_000)), rowCount)]).toThrow(
    expect.objectContaining({ code: "CONNECTOR_PROTOCOL" }),
  );
});
