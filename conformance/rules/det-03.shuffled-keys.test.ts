import { expect, test } from "vitest";
import { withShuffledKeys } from "./det-03.shuffled-keys.ts";

const shuffled = (body: string | Buffer) =>
  withShuffledKeys({ status: 200, headers: {}, body: Buffer.from(body) }, 1).body;

test.each([
  ["a document", '{"a":1,"b":{"c":2.5,"d":3}}', '{"b":{"d":3,"c":2.5},"a":1}'],
  ["a list", '[{"a":1,"b":2}]', '[{"b":2,"a":1}]'],
  ["one line of rows, with its end", '{"a":1,"b":2}\n', '{"b":2,"a":1}\n'],
  ["lines of rows", '{"a":1,"b":2}\r\n\n{"a":3,"b":4}\n', '{"b":2,"a":1}\r\n\n{"b":4,"a":3}\n'],
  ["a line that is cut off", '{"a":1,"b":2}\n{"a":3,"b', '{"b":2,"a":1}\n{"a":3,"b'],
  ["what stands around a document", '\ufeff \n{"a":1,"b":2} ', '\ufeff \n{"b":2,"a":1} '],
  ["text", "a,b\n1,2\n", "a,b\n1,2\n"],
])("the keys of %s come in another order, and nothing else changes", (_, body, expected) => {
  expect(shuffled(body).toString()).toBe(expected);
});

test("bytes that are no text stay", () => {
  const bytes = Buffer.from([0x1f, 0x8b, 0xff, 0x0a]);
  expect(shuffled(bytes)).toEqual(bytes);
});
