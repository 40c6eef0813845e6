/** The types of values that JSON can hold in many ways. */
import { expect, test } from "vitest";
import { typeOf } from "./types.ts";

const json = typeOf({ name: "json", isUnsigned: false, precision: 0, scale: 0, isJson: true });
const encode = (text: string) => json.encode(Buffer.from(text));

test.each([
  "12345678901234567890",
  '{"n":-9007199254740993,"d":[1.0000000000000000001,1e400]}',
  '{"":{"__proto__":1}}',
])("the numbers of %s keep every digit", (text) => {
  expect(encode(text)).toBe(text);
});

test("what is no JSON becomes null, and is noted", () => {
  expect(encode("{")).toBeUndefined();
});
