import type { JsonObject } from "svc-connectors";
import { expect, test } from "vitest";
import { configCases } from "./configs.ts";

const spec: JsonObject = {
  type: "object",
  required: ["token", "login", "format"],
  additionalProperties: false,
  properties: {
    token: { type: "string", airbyte_secret: true },
    format: { type: "string", default: "csv" },
    note: { type: "string", multiline: true },
    size: { type: "integer", minimum: 1, maximum: 10 },
    login: {
      type: "object",
      oneOf: [
        {
          required: ["kind", "user"],
          additionalProperties: false,
          properties: { kind: { const: "user" }, user: { type: "string", pattern: "^[a-z]+$" } },
        },
        {
          required: ["kind", "key"],
          additionalProperties: false,
          properties: { kind: { const: "key" }, key: { type: "string" } },
        },
      ],
    },
  },
};
const config = { token: "a-token", format: "csv", login: { kind: "user", user: "ann" } };
const cases = configCases({ spec, config });
const find = (path: string, kind: string) =>
  cases.filter((one) => one.path === path && one.kind === kind);

test("each required setting without a default is removed in turn, within the chosen alternative too", () => {
  const removed = cases.filter(({ kind }) => kind === "removed").map(({ path }) => path);
  expect(removed).toEqual(["token", "login", "login.kind", "login.user"]);
  expect(find("login.user", "removed")[0]?.config).toEqual({ ...config, login: { kind: "user" } });
});

test("wrong types and values out of range are those that the schema refuses", () => {
  expect(find("size", "wrong type").map(({ name }) => name)).toEqual([
    "size is null",
    "size is text",
    "size is empty text",
    "size is a list",
    "size is a fraction",
  ]);
  expect(find("size", "out of range").map((one) => one.config.size)).toEqual([0, 11]);
  expect(find("login.user", "out of range")).toHaveLength(1);
  expect(
    [...find("size", "wrong type"), ...find("login.user", "out of range")].every(
      ({ isWrong }) => isWrong,
    ),
  ).toBe(true);
});

test("an empty or blank text is wrong where a text is needed, a line break where only one line is meant", () => {
  const isWrong = (path: string, kind: string) => find(path, kind)[0]?.isWrong;
  expect([
    isWrong("token", "empty"),
    isWrong("token", "blank"),
    isWrong("note", "empty"),
    isWrong("note", "blank"),
  ]).toEqual([true, true, false, false]);
  expect([
    isWrong("token", "line break"),
    isWrong("note", "line break"),
    isWrong("note", "NUL"),
    isWrong("note", "1 MB"),
  ]).toEqual([true, false, true, true]);
});

test("each object gets a setting that it does not know, and each choice an alternative that does not exist", () => {
  expect(
    cases.filter(({ kind }) => kind === "unknown key").map(({ path, isWrong }) => [path, isWrong]),
  ).toEqual([
    ["no_such_setting", true],
    ["login.no_such_setting", true],
  ]);
  expect(find("login.kind", "unknown alternative")[0]?.isWrong).toBe(true);
});

test("a schema that allows unknown settings is taken by its word", () => {
  const open = configCases({ spec: { type: "object", properties: {} }, config: {} });
  expect(open.map(({ kind, isWrong }) => [kind, isWrong])).toEqual([["unknown key", false]]);
});

test("the given configuration is never changed", () => {
  expect(config).toEqual({ token: "a-token", format: "csv", login: { kind: "user", user: "ann" } });
});
