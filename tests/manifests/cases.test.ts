import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { supported } from "../../runtime/manifest/document/component.ts";
import { lackingProperties, lackingTypes } from "../../runtime/manifest/document/lacking.ts";
import { variableNames } from "../../runtime/manifest/expressions/expression.ts";
import { callNames } from "../../runtime/manifest/expressions/functions.ts";
import { readCase } from "./cases.ts";
import { differences, kinds, parts } from "./differences.ts";
import { smallCases } from "./small.ts";

const cwd = fileURLToPath(new URL("cases/", import.meta.url));
const largeCases = globSync("*.yaml", { cwd }).map((file) =>
  readCase(file, readFileSync(cwd + file, "utf8")),
);
const manifests = [
  ...largeCases.map(({ manifest }) => manifest),
  ...smallCases.map(({ manifest }) => manifest),
];
const text = manifests.join("\n");

test("every component that is supported is in a case that is compared", () => {
  const compared = new Set([...text.matchAll(/\btype: ([A-Z]\w+)/g)].map(([, type]) => type));
  // With this one Airbyte's interpreter does not end by a clock that stands still;
  // runtime/manifest/records/csv.test.ts has it.
  const apart = ["ResponseToFileExtractor"];
  const missing = Object.keys(supported).filter(
    (type) => !compared.has(type) && !apart.includes(type),
  );
  expect(missing).toEqual([]);
});

test("every name that expressions may use is in a case that is compared", () => {
  const written = (pattern: (name: string) => string) => (name: string) =>
    !new RegExp(pattern(name)).test(text);
  expect({
    macros: callNames.macro.filter(written((name) => `\\b${name}\\(`)),
    filters: callNames.filter.filter(written((name) => `\\|\\s*${name}\\b`)),
    methods: callNames.method.filter(written((name) => `\\.${name}\\(`)),
    variables: variableNames.filter(written((name) => `\\{[{%][^}]*\\b${name}\\b`)),
  }).toEqual({ macros: [], filters: [], methods: [], variables: [] });
});

test("whatever the published schema has is supported, or is refused by name and told in the docs", () => {
  const published = parse(
    readFileSync(new URL("published-schema.yaml", import.meta.url), "utf8"),
  ) as Record<string, string | null>;
  const page = readFileSync(new URL("../../docs/manifests.md", import.meta.url), "utf8");
  const [, lacking = ""] = /^Not supported, (.*?)^## /ms.exec(page) ?? [];
  const isTold = (name: string) => lacking.includes(`\`${name}\``);
  const known: Readonly<Record<string, string>> = supported;
  // Parts of what every stream gets anyway: one of a group at a time, the strictest limit.
  const unread = ["BlockSimultaneousSyncsAction", "HttpRequestRegexMatcher"];
  const names = (list: string | null | undefined) => (list ?? "").split(" ").filter(Boolean);
  const unknown = Object.entries(published).flatMap(([type, properties]) => {
    if (type.startsWith("Custom") || unread.includes(type)) return [];
    if (known[type] === undefined) return lackingTypes.includes(type) && isTold(type) ? [] : [type];
    const isLacking = (name: string) => names(lackingProperties[type]).includes(name);
    return names(properties)
      .filter((name) => !names(known[type]).includes(name) && !(isLacking(name) && isTold(name)))
      .map((name) => `${type}.${name}`);
  });
  expect(unknown).toEqual([]);
  // Nothing is called lacking that is supported, or that nobody has published.
  const stale = [
    ...lackingTypes.filter((type) => known[type] !== undefined || !(type in published)),
    ...Object.entries(lackingProperties).flatMap(([type, list]) =>
      names(list).filter(
        (name) => names(known[type]).includes(name) || !names(published[type]).includes(name),
      ),
    ),
  ];
  expect(stale).toEqual([]);
});

test("there are sixty manifests and more, none of them twice", () => {
  const names = smallCases.map(({ file }) => file);
  expect(new Set(names).size).toBe(names.length);
  expect(manifests.length).toBeGreaterThan(60);
});

test("what is not compared as a whole is explained in the table, which says whose each difference is", () => {
  const cases = [...largeCases, ...smallCases];
  const unexplained = cases.filter(
    ({ theirFault, ownWaits, ownRequests, differs }) =>
      (theirFault || ownWaits.length > 0 || ownRequests.length > 0 || differs !== undefined) &&
      !differences.has(String(differs)),
  );
  expect(unexplained.map(({ file }) => file)).toEqual([]);
  const shown = new Set(cases.map(({ differs }) => differs));
  for (const [name, { part, kind }] of differences) {
    expect([name, kinds, parts]).toEqual([
      name,
      expect.arrayContaining([kind]),
      expect.arrayContaining([part]),
    ]);
    expect([name, shown.has(name)]).toEqual([name, part !== "—"]);
  }
  expect(differences.size).toBeGreaterThan(10);
});
