import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { renderConnectorTables, renderExecutables } from "../docs/connector-lists.ts";

const read = (name: string) => readFileSync(new URL(`../${name}`, import.meta.url), "utf8");

test("README's tables are those that the cards make; `npm run docs` rewrites them", () => {
  const readme = read("README.md");
  expect(readme).toBe(renderConnectorTables(readme));
  expect(readme).toContain("(connectors/sources/mailer/README.md)");
  expect(readme).toContain("(connectors/destinations/duckdb/README.md)");
});

test("README links to pages that exist", () => {
  const links = [...read("README.md").matchAll(/\]\(((?:connectors|docs)\/[^)#]+)\)/g)];
  const missing = links.filter(([, path]) => !existsSync(new URL(`../${path}`, import.meta.url)));
  expect(missing.map(([, path]) => path)).toEqual([]);
});

test("package.json has an executable for each source; `npm run docs` rewrites them", () => {
  const packageJson = read("package.json");
  expect(packageJson).toBe(renderExecutables(packageJson));
  expect(JSON.parse(packageJson).bin).toHaveProperty("source-mailer");
});
