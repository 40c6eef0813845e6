import { expect, test } from "vitest";
import { codeOf } from "./det-04.source-code.ts";

test("comments and texts are blanked out, lines and code stay", () => {
  const template = ["const url = `https://x/$", "{Date.now()}`;"].join("");
  const source = `const a = "Date.now()"; // Date.now()\n/* Math.random()\n */ const b = Date.now();\n${template}`;
  const code = codeOf(source);
  expect(code.split("\n")).toHaveLength(4);
  expect(code.match(/Date\.now/g)).toHaveLength(2);
  expect(code).not.toContain("Math.random");
});
