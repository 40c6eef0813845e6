import { expect, test } from "vitest";
import type { ListingContext } from "./positions.ts";
import { createTokens } from "./tokens.ts";

const rows = Array.from({ length: 5 }, (_, id) => ({ id }));

/** Tokens of a listing that was recorded with one page behind its first. */
const tokensOf = (listing: string, recorded: string) =>
  createTokens([{ text: recorded, filter: "", start: 2 }], {
    listing,
    rowCount: rows.length,
    like: [recorded],
  });

test.each([
  ["numbers", "42"],
  ["UUIDs", "5f3c1a52-9d51-4b6e-8c7e-0c1f2d3a4b5c"],
  ["hexadecimal digits", "6f6b3a3132"],
  ["base64", "b2s6MTI="],
  ["text", "next:two"],
])("a token that was made up for one listing asks for its page there and is refused by others: %s", (_, recorded) => {
  const own = tokensOf("GET /folders/f1/notes", recorded);
  const other = tokensOf("GET /folders/f2/notes", recorded);
  const context: ListingContext = { rows, size: 2, emptyPages: [], filter: "", tokens: own };
  const text = own.write({ start: 4, skipped: 0 }, context);
  expect(own.read(text, context)).toEqual({ start: 4, skipped: 0 });
  expect(other.read(text, { ...context, tokens: other })).toBeUndefined();
});

test("a token that was given for one row is given for no other when rows have changed", () => {
  const tokens = tokensOf("GET /notes", "next:two");
  const context: ListingContext = { rows, size: 2, emptyPages: [], filter: "", tokens };
  const position = { start: 4, skipped: 0 };
  const before = tokens.write(position, context);
  tokens.remember(before, rows, position);
  const changed = { ...context, rows: rows.slice(1) };
  const after = tokens.write(position, changed);
  tokens.remember(after, changed.rows, position);
  expect(after).not.toBe(before);
  expect(tokens.read(before, changed)).toEqual({ start: 3, skipped: 0 });
  expect(tokens.read(after, changed)).toEqual(position);
});
