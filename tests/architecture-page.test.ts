import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../", import.meta.url));
const page = readFileSync(`${root}docs/architecture.md`, "utf8");
/** The texts between backticks of each line. */
const quoted = page
  .split("\n")
  .map((line) => [...line.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? ""));
const isEntry = (text: string) => text.startsWith("svc-connectors/");
const isPath = (text: string) => /^[\w.-]+(?:\/[\w.-]*)+$/.test(text) && !isEntry(text);
const isName = (text: string) => /^[A-Za-z]\w+$/.test(text);

test("every file and folder that the architecture page names exists", () => {
  const paths = quoted.flat().filter(isPath);
  expect(paths.length).toBeGreaterThan(50);
  // The section about the wall names folders of the runtime.
  const exists = (path: string) => existsSync(root + path) || existsSync(`${root}runtime/${path}`);
  expect(paths.filter((path) => !exists(path))).toEqual([]);
});

test("every name that it gives stands in a file of the same line", () => {
  const missing = quoted.flatMap((texts) => {
    const sources = texts
      .filter((text) => isPath(text) && text.endsWith(".ts"))
      .map((path) => readFileSync(root + path, "utf8"));
    const stands = (name: string) =>
      sources.some((source) => new RegExp(`\\b${name}\\b`).test(source));
    return texts.filter((text) => isName(text) && !stands(text));
  });
  // The command itself, and a table.
  expect(missing.filter((name) => !["svc", "jobs"].includes(name))).toEqual([]);
});

test("every page that it links to exists", () => {
  const links = [...page.matchAll(/\]\(([^)]+)\)/g)].map((match) => match[1] ?? "");
  expect(links.filter((link) => !existsSync(`${root}docs/${link}`))).toEqual([]);
});

test("every entry that it names is one of the package", () => {
  const { exports } = JSON.parse(readFileSync(`${root}package.json`, "utf8"));
  const entries = quoted.flat().filter(isEntry);
  expect(entries.length).toBeGreaterThan(2);
  expect(entries.filter((one) => !exports[one.replace("svc-connectors", ".")])).toEqual([]);
});

test("every folder of the units is named", () => {
  const units = ["runtime", "connectors", "conformance", "control", "console"];
  const folders = units.flatMap((unit) =>
    readdirSync(root + unit, { withFileTypes: true })
      .filter((one) => one.isDirectory())
      .map(({ name }) => `${unit}/${name}/`),
  );
  expect(folders.length).toBeGreaterThan(50);
  expect(folders.filter((folder) => !quoted.flat().includes(folder))).toEqual([]);
});
