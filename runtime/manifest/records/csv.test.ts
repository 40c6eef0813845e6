import { expect, test } from "vitest";
import { openComponent } from "../document/component.ts";
import { compileCsvFile } from "./csv.ts";

const rowsOf = (text: string, options = {}) => {
  const part = { type: "ResponseToFileExtractor", ...options };
  const decode = compileCsvFile(openComponent(part, "here", ["ResponseToFileExtractor"]));
  return decode({ status: 200, headers: {}, text: () => text, json: () => undefined as never });
};

test("a fetched file of CSV has texts alone, and nothing where its cells say so", () => {
  const text = 'id,name,note\n1,NA,"a, ""b"""\r\n2,,n/a\n3\n';
  expect(rowsOf(text)).toEqual([
    { id: "1", name: null, note: 'a, "b"' },
    { id: "2", name: null, note: null },
    { id: "3", name: null, note: null },
  ]);
  expect(rowsOf(text, { preserve_na_values: true })[0]).toEqual({
    ...{ id: "1", name: "NA", note: 'a, "b"' },
  });
});
