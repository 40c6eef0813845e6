import { expect, test } from "vitest";
import type { CatalogStream, ConfiguredStream } from "../contract/catalog.ts";
import { hashProblem, withHashedFields } from "./hashed-fields.ts";

const stream: CatalogStream = {
  name: "people",
  json_schema: {
    type: "object",
    properties: {
      id: { type: "integer" },
      email: { type: ["string", "null"], format: "email" },
      age: { type: "integer" },
      seen_at: { type: "string", format: "date-time" },
      address: { type: "object", properties: { street: { type: "string" } } },
    },
  },
  supported_sync_modes: ["full_refresh", "incremental"],
  source_defined_cursor: false,
  default_cursor_field: [],
  source_defined_primary_key: [["id"]],
  is_resumable: true,
};
const whole: ConfiguredStream = { stream, sync_mode: "full_refresh" };
const byTime: ConfiguredStream = { stream, sync_mode: "incremental", cursor_field: ["seen_at"] };
const own = {
  ...byTime,
  stream: { ...stream, source_defined_cursor: true, default_cursor_field: ["seen_at"] },
};

test.each<[string, ConfiguredStream, string, RegExp | undefined]>([
  ["any column", whole, "email", undefined],
  ["an object as a whole", whole, "address", undefined],
  ["a column that is not there", whole, "e_mail", /not one of the stream's columns/],
  ["a part of a column", whole, "address.street", /whole columns/],
  ["the cursor", byTime, "seen_at", /the cursor/],
  ["the source's cursor", own, "seen_at", /the cursor/],
  [
    "what would be the cursor, in a full refresh",
    { ...own, sync_mode: "full_refresh" },
    "seen_at",
    undefined,
  ],
  ["the key along which a full refresh goes on", whole, "id", /primary key/],
  [
    "a key of a read that begins anew",
    { ...whole, stream: { ...stream, is_resumable: false } },
    "id",
    undefined,
  ],
  ["a key beside a chosen cursor", byTime, "id", undefined],
  ["a key that the source may have in its state", own, "id", /saved state/],
])("whether %s can be hashed", (_, configured, field, problem) => {
  if (problem === undefined) expect(hashProblem(configured, field)).toBeUndefined();
  else expect(hashProblem(configured, field)).toMatch(problem);
});

test("a hashed property is a text, and may be null where it could be", () => {
  const { stream: hashed } = withHashedFields({ ...whole, hashed_fields: ["email", "age"] });
  expect(hashed.json_schema.properties).toEqual({
    ...(stream.json_schema.properties as object),
    email: { type: ["string", "null"] },
    age: { type: "string" },
  });
  expect(withHashedFields(whole)).toBe(whole);
});
