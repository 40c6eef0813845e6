import { expect, test } from "vitest";
import { compileSchema } from "./schemas.ts";

const page = { type: "object", properties: { page_size: { type: "integer", minimum: 1 } } };

test("a value is judged by the whole schema or by one of its parts", () => {
  const compiled = compileSchema(page);
  expect(compiled.fault({ page_size: 0 })).toMatch(/page_size must be >= 1/);
  expect(compiled.fault({ page_size: 1 })).toBeUndefined();
  expect(compiled.fault("x", "/properties/page_size")).toMatch(/must be integer/);
});

test.each([
  ["a misspelt keyword", { type: "object", propertys: {} }, /propertys/],
  ["an unknown type", { type: "object", properties: { at: { type: "datetime" } } }, /type/],
  [
    "an unknown format",
    { type: "object", properties: { at: { type: "string", format: "moment" } } },
    /moment/,
  ],
  [
    "a pattern that is none",
    { type: "object", properties: { at: { type: "string", pattern: "(" } } },
    /regular expression|pattern/i,
  ],
  [
    "a reference to nothing",
    { type: "object", properties: { at: { $ref: "#/$defs/at" } } },
    /resolve|at/,
  ],
  ["an unknown draft", { $schema: "https://example.com/my-schema", type: "object" }, /draft/],
])("%s is no strict schema", (_name, schema, expected) =>
  expect(() => compileSchema(schema)).toThrow(expected));

test("the drafts that specs are written in are understood, and the words of user interfaces", () => {
  const draft7 = {
    $schema: "http://json-schema.org/draft-07/schema#",
    type: "object",
    definitions: { a: { type: "string" } },
    properties: {
      a: { $ref: "#/definitions/a" },
      b: {
        type: "array",
        items: [{ type: "string" }],
        minItems: 1,
        additionalItems: false,
        order: 1,
        airbyte_hidden: true,
        "x-group": "g",
      },
    },
  };
  expect(compileSchema(draft7).fault({ a: 1 })).toMatch(/a must be string/);
  const { $schema: _, ...unnamed } = draft7;
  expect(compileSchema(unnamed).fault({ a: 1 })).toMatch(/a must be string/);
  expect(
    compileSchema({
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: { "a/b": { type: "string" } },
    }).fault(1, "/properties/a~1b"),
  ).toMatch(/string/);
});
