import { expect, test } from "vitest";
import { kindOf } from "../wire/columns/fields.ts";
import { withTopProperties } from "./top-properties.ts";

const text = { type: "string" };

test("a schema that has its properties at the top stays as it is", () => {
  const schema = { type: "object", properties: { a: text } };
  expect(withTopProperties(schema)).toBe(schema);
});

test("properties in allOf and behind $ref are found, those of several parts as all of them", () => {
  const schema = {
    $ref: "#/$defs/base",
    allOf: [
      { properties: { a: { maxLength: 2 }, b: text } },
      { allOf: [{ properties: { c: {} } }] },
    ],
    $defs: { base: { type: "object", properties: { a: text } } },
  };
  expect(withTopProperties(schema)).toEqual({
    ...schema,
    properties: { a: { allOf: [text, { maxLength: 2 }] }, b: text, c: {} },
  });
});

test("a schema that refers to itself has an end", () => {
  const part = { allOf: [{ $ref: "#" }, { $ref: "#" }], properties: { a: text } };
  expect(withTopProperties(part).properties).toEqual({ a: text });
});

test("a property may be null where its schema says nullable", () => {
  expect(kindOf({ type: "string", nullable: true })).toEqual({ kind: "text", isNullable: true });
  expect(kindOf({ type: "string" })).toEqual({ kind: "text", isNullable: false });
});
