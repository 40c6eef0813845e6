import { describe, expect, test } from "vitest";
import type { JsonObject } from "../contract/json.ts";
import { compileSchema } from "../spec/validation.ts";
import { settingsSchema } from "./settings-schema.ts";

const text = { type: "string" };
const withSetting = (setting: JsonObject): JsonObject => ({
  type: "object",
  properties: { token: { type: "string", airbyte_secret: true }, setting },
});

describe("settings of an image are held to, though their schema", () => {
  test.each<readonly [string, JsonObject]>([
    ["is of draft 7", { ...withSetting(text), $schema: "http://json-schema.org/draft-07/schema#" }],
    [
      "is of 2019",
      { ...withSetting(text), $schema: "https://json-schema.org/draft/2019-09/schema" },
    ],
    ["groups settings for a console", { ...withSetting(text), groups: [{ id: "auth" }] }],
    ["hides a setting", withSetting({ ...text, airbyte_hidden: true })],
    ["says how a choice is drawn", withSetting({ oneOf: [text], display_type: "radio" })],
    ["has an extension", withSetting({ ...text, "x-order": 1 })],
    ["has a keyword that nobody knows", withSetting({ ...text, minLenght: 2 })],
    ["has a format of its own", withSetting({ ...text, format: "iso-week" })],
    ["has one example", withSetting({ ...text, examples: "2026-01-01" })],
    ["says of a setting itself that it is required", withSetting({ ...text, required: true })],
    ["has a pattern of Python", withSetting({ ...text, pattern: "^[0-9]{4}\\-[0-9]{2}$" })],
    [
      "has these in objects, lists and definitions",
      {
        ...withSetting({ type: "array", items: { ...text, airbyte_hidden: true } }),
        $defs: { day: { ...text, example: "2026-01-01" } },
        propertyNames: { ...text, title_i18n: {} },
        dependentSchemas: { setting: { help: "with a token", required: ["token"] } },
      },
    ],
  ])("%s", (_, schema) => {
    expect(() => compileSchema(schema)).toThrow();
    const check = compileSchema(settingsSchema(schema));
    expect(check({ token: "a" })).toEqual([]);
    expect(check({ token: 1 })).toEqual([{ path: "token", problem: "must be string" }]);
  });
});

test("what a user reads of a setting, and what is data, stays as it is", () => {
  const choice = {
    ...{ type: "object", title: "A choice", description: "One of them.", examples: [{ ui: 1 }] },
    ...{ default: { example: 1 }, enum: [{ "x-a": 1 }], order: 1, readOnly: true },
  };
  const schema = { ...withSetting(choice), dependentRequired: { help: ["token"] } };
  expect(settingsSchema(schema)).toEqual(schema);
});

test("settings may have the names of keywords that are left out", () => {
  const schema = { type: "object", properties: { example: text, "x-order": text, required: text } };
  expect(settingsSchema(schema)).toEqual(schema);
});

test("a secret where none is looked for stays, so that it is refused", () => {
  const schema = withSetting({ ...text, "x-more": { ...text, airbyte_secret: true } });
  expect(settingsSchema(schema)).toEqual(schema);
});
