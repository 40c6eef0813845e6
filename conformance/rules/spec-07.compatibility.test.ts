import type { JsonObject } from "svc-connectors";
import { expect, test } from "vitest";
import { breaksBetween } from "./spec-07.compatibility.ts";

const object = (properties: JsonObject, rest: JsonObject = {}): JsonObject => ({
  type: "object",
  properties,
  ...rest,
});
const one = (schema: JsonObject) => object({ x: schema });
const text = { type: "string" };
const forms = (...kinds: string[]) => ({
  oneOf: kinds.map((kind) => object({ kind: { const: kind } })),
});

test.each<readonly [string, JsonObject, JsonObject, RegExp]>([
  [
    "a new required setting",
    object({}),
    object({ x: text }, { required: ["x"] }),
    /x is required now/,
  ],
  [
    "an old setting that is required now",
    one(text),
    object({ x: text }, { required: ["x"] }),
    /x is required now/,
  ],
  ["a removed setting", one(text), object({}), /x is gone/],
  [
    "another type",
    one(text),
    one({ type: "integer" }),
    /x may not be string any more; it must be integer now/,
  ],
  ["fewer types", one({ type: ["string", "null"] }), one(text), /x may not be null any more/],
  ["no more fractions", one({ type: "number" }), one({ type: "integer" }), /x may not be number/],
  [
    "a shorter list of values",
    one({ enum: ["a", "b"] }),
    one({ enum: ["a"] }),
    /x may not be "b" any more/,
  ],
  [
    "a list of values where there was none",
    one(text),
    one({ ...text, enum: ["a"] }),
    /x must be one of "a" now/,
  ],
  [
    "a larger minimum",
    one({ type: "integer", minimum: 1 }),
    one({ type: "integer", minimum: 2 }),
    /minimum of 2 now; it was 1/,
  ],
  [
    "a maximum where there was none",
    one({ type: "integer" }),
    one({ type: "integer", maximum: 9 }),
    /maximum of 9 now; it had none/,
  ],
  [
    "another pattern",
    one({ ...text, pattern: "a" }),
    one({ ...text, pattern: "b" }),
    /pattern of "b" now; it was "a"/,
  ],
  [
    "shorter texts",
    one({ ...text, maxLength: 9 }),
    one({ ...text, maxLength: 8 }),
    /maxLength of 8/,
  ],
  [
    "items of another type",
    one({ type: "array", items: text }),
    one({ type: "array", items: { type: "integer" } }),
    /x\[\] may not be string/,
  ],
  ["a lost alternative", one(forms("a", "b")), one(forms("a")), /x\.kind may not be "b" any more/],
  [
    "further settings refused",
    object({ x: text }),
    object({ x: text }, { additionalProperties: false }),
    /no further settings/,
  ],
])("%s breaks saved configurations", (_name, before, now, expected) => {
  expect(
    breaksBetween(before, now, false)
      .map(({ path, what }) => `${path} ${what}`)
      .join("\n"),
  ).toMatch(expected);
});

test.each<readonly [string, JsonObject, JsonObject]>([
  ["a new optional setting", object({}), object({ x: text })],
  ["a wider type", one({ type: "integer" }), one({ type: "number" })],
  ["more values", one({ enum: ["a"] }), one({ enum: ["b", "a"] })],
  [
    "a wider range",
    one({ type: "integer", minimum: 2, maximum: 5 }),
    one({ type: "integer", minimum: 1 }),
  ],
  ["no pattern any more", one({ ...text, pattern: "a" }), one(text)],
  ["one more alternative", one(forms("a")), one(forms("b", "a"))],
  [
    "other words",
    one({ ...text, title: "A" }),
    one({ ...text, title: "B", description: "C", default: "d" }),
  ],
  [
    "an old required setting that is optional now",
    object({ x: text }, { required: ["x"] }),
    one(text),
  ],
])("%s does not", (_name, before, now) => expect(breaksBetween(before, now, false)).toEqual([]));

test("a required setting with a default breaks nothing where defaults are filled in", () => {
  const now = object({ x: { ...text, default: "a" } }, { required: ["x"] });
  expect([
    breaksBetween(object({}), now, true).length,
    breaksBetween(object({}), now, false).length,
  ]).toEqual([0, 1]);
});
