import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { ErrorRule } from "../contract/egress.ts";
import { findErrorCode } from "./error-rules.ts";
import { valueAt } from "./json-pointer.ts";

const body = {
  error: { code: "ITEM_LOGIN_REQUIRED", retry: false, "a/b~c": 7 },
  list: [{ message: "Rate Limit reached" }],
  ok: true,
  none: null,
  long: 9_007_199_254_740_993n,
};
const answer = { status: 200, headers: { "x-state": "expired", "x-many": ["a", "b"] }, body };
const code = "REQUEST_REJECTED" as const;

test.each<[string, Omit<ErrorRule, "code">, boolean]>([
  ["a status", { status: 200 }, true],
  ["another status", { status: 201 }, false],
  ["one of several statuses", { status: [500, 200] }, true],
  ["a header", { header: { name: "x-state", equals: "expired" } }, true],
  ["one of several header values", { header: { name: "x-many", equals: "b" } }, true],
  ["another header value", { header: { name: "x-state", equals: "Expired" } }, false],
  [
    "a header's name that every object has",
    { header: { name: "constructor", equals: "x" } },
    false,
  ],
  ["something at the pointer", { pointer: "/error/code" }, true],
  ["false at the pointer", { pointer: "/error/retry" }, false],
  ["null at the pointer", { pointer: "/none" }, false],
  ["nothing at the pointer", { pointer: "/error/other" }, false],
  ["an inherited name at the pointer", { pointer: "/constructor" }, false],
  ["one of several values", { pointer: "/error/code", equals: ["X", "ITEM_LOGIN_REQUIRED"] }, true],
  ["false as the value", { pointer: "/error/retry", equals: [false] }, true],
  ["another type", { pointer: "/ok", equals: ["true"] }, false],
  [
    "a part of the text, whatever its case",
    { pointer: "/list/0/message", contains: "rate limit" },
    true,
  ],
  ["a part that is not in it", { pointer: "/list/0/message", contains: "quota" }, false],
  ["an escaped pointer", { pointer: "/error/a~1b~0c", equals: [7] }, true],
  [
    "all conditions",
    { status: 200, pointer: "/ok", header: { name: "x-state", equals: "expired" } },
    true,
  ],
  ["all conditions but one", { status: 404, pointer: "/ok" }, false],
  ["no condition", {}, false],
])("a rule with %s", (_name, rule, fits) => {
  expect(findErrorCode([{ ...rule, code }], answer)).toBe(fits ? code : undefined);
});

test("the first rule that fits wins", () => {
  const rules = [
    { status: 500, code: "INTERNAL" },
    { pointer: "/ok", code: "RATE_LIMITED" },
    { status: 200, code },
  ] as const;
  expect(findErrorCode(rules, answer)).toBe("RATE_LIMITED");
});

test("a pointer into nothing, or one that is none, finds nothing", () => {
  expect(valueAt(undefined, "/a")).toBeUndefined();
  expect(valueAt("text", "/length")).toBeUndefined();
  expect(valueAt(body, "ok")).toBeUndefined();
  expect(valueAt(body, "")).toBe(body);
});

test("the worker can load it: it imports nothing of Node or the host", () => {
  for (const file of ["./error-rules.ts", "./json-pointer.ts"]) {
    const source = readFileSync(new URL(file, import.meta.url), "utf8");
    const imports = source.match(/^import .*$/gm) ?? [];
    const code = imports.filter((line) => !line.startsWith("import type "));
    expect(code.filter((line) => !line.endsWith('from "./json-pointer.ts";'))).toEqual([]);
  }
});
