import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { supported } from "../../runtime/manifest/document/component.ts";

test("every component that is supported is in a case that is compared", () => {
  const cwd = fileURLToPath(new URL("cases/", import.meta.url));
  const text = globSync("*.yaml", { cwd })
    .map((file) => readFileSync(`${cwd}${file}`, "utf8"))
    .join("\n");
  const compared = new Set([...text.matchAll(/\btype: ([A-Z]\w+)/g)].map(([, type]) => type));
  // The first is never named: its type is known where it stands. With the second Airbyte's interpreter
  // does not end by a clock that stands still; runtime/manifest/records/csv.test.ts has it.
  const unnamed = ["Rate", "ResponseToFileExtractor"];
  const missing = Object.keys(supported).filter(
    (type) => !compared.has(type) && !unnamed.includes(type),
  );
  expect(missing).toEqual([]);
});
