import fc from "fast-check";
import { expect, test } from "vitest";
import { parsePointer, toPointer, valueAt } from "./json-pointer.ts";

/** The example of RFC 6901, section 5. */
const document = {
  foo: ["bar", "baz"],
  "": 0,
  "a/b": 1,
  "c%d": 2,
  "e^f": 3,
  "g|h": 4,
  "i\\j": 5,
  'k"l': 6,
  " ": 7,
  "m~n": 8,
};

test.each([
  ["", document],
  ["/foo", ["bar", "baz"]],
  ["/foo/0", "bar"],
  ["/", 0],
  ["/a~1b", 1],
  ["/c%d", 2],
  ["/e^f", 3],
  ["/g|h", 4],
  ["/i\\j", 5],
  ['/k"l', 6],
  ["/ ", 7],
  ["/m~0n", 8],
])("%j of the RFC's example", (pointer, value) => {
  expect(valueAt(document, pointer)).toEqual(value);
  expect(toPointer(...parsePointer(pointer))).toBe(pointer);
});

test.each([
  ["nothing there", "/bar"],
  ["an element beyond the list", "/foo/2"],
  ["an index with a zero before it", "/foo/00"],
  ["an index that is no number", "/foo/length"],
  ["the element after the last one", "/foo/-"],
  ["below a scalar", "/foo/0/0"],
  ["a property of the prototype", "/constructor"],
  ["the prototype", "/__proto__"],
  ["a text that is no pointer", "foo"],
])("%s is undefined", (_, pointer) => expect(valueAt(document, pointer)).toBeUndefined());

test("~01 is ~1, and not a slash", () => {
  expect(parsePointer("/~01")).toEqual(["~1"]);
  expect(valueAt({ "~1": 1, "/": 2 }, "/~01")).toBe(1);
});

test("any names make a pointer that leads back to them", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: fc.constantFrom(..."~/01ab.") })), (names) => {
      expect(parsePointer(toPointer(...names))).toEqual(names);
    }),
  );
});
