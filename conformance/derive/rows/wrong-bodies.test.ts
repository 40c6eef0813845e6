import { expect, test } from "vitest";
import type { Exchange } from "../../contract/network.ts";
import { wrongBodies } from "./wrong-bodies.ts";

const bodiesOf = (type: string | undefined, text: string) =>
  wrongBodies({
    answer: {
      status: 200,
      headers: type === undefined ? {} : { "content-type": type },
      body: Buffer.from(text),
    },
  } as unknown as Exchange);
const names = (type: string | undefined, text = '{"id":1}\n{"id":2}\n') =>
  bodiesOf(type, text).map(({ name }) => name);

test.each([
  undefined,
  "application/json",
  "application/vnd.api+json; charset=utf-8",
  "text/plain",
])("an empty body is no answer of %s", (type) => {
  expect(names(type)).toEqual(expect.arrayContaining(["an empty body", "blanks"]));
});

test.each([
  "application/x-ndjson",
  "application/jsonl; charset=utf-8",
  "text/csv",
  "Text/Tab-Separated-Values",
])("an empty body is one without rows in %s", (type) => {
  expect(names(type)).not.toEqual(expect.arrayContaining(["an empty body"]));
  expect(names(type)).not.toEqual(expect.arrayContaining(["blanks"]));
  expect(names(type)).toEqual(expect.arrayContaining(["a web page"]));
});

test("lines are cut inside of one, and a table's cut is not seen in it", () => {
  const half = bodiesOf("application/x-ndjson", '{"id":1}\n{"id":2}\n').find(
    ({ name }) => name === "JSON cut in half",
  );
  expect(half?.text).toBe('{"id":1');
  expect(names("text/csv")).not.toContain("JSON cut in half");
  expect(names("text/csv")).not.toContain("JSON without its last character");
});

test("an answer keeps its content type, but for a web page that says what it is", () => {
  const types = bodiesOf("application/vnd.api+json", "{}").map(({ contentType }) => contentType);
  expect(new Set(types)).toEqual(new Set(["text/html; charset=utf-8", "application/vnd.api+json"]));
});
