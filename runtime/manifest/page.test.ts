import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { supported } from "./document/component.ts";
import { variableNames } from "./expressions/expression.ts";
import { callNames } from "./expressions/functions.ts";

const page = readFileSync(new URL("../../docs/manifests.md", import.meta.url), "utf8");
const [, section = ""] = /^## What is supported$(.*?)^Not supported,/ms.exec(page) ?? [];
/** The names in the cells of a row. */
const named = (title: string) =>
  [
    ...(new RegExp(`^\\| ${title} \\|(.*)$`, "m").exec(section)?.[1] ?? "").matchAll(
      /`\.?([\w]+)`/g,
    ),
  ]
    .map(([, name = ""]) => name)
    .sort();

test("docs/manifests.md names every component that is supported, and no other", () => {
  const components = [...section.matchAll(/`((?:[A-Z][a-z]|OA|HTTPA)\w+)`/g)].map(
    ([, name]) => name,
  );
  expect([...new Set(components)].sort()).toEqual(Object.keys(supported).sort());
});

test("docs/manifests.md names what expressions may use", () => {
  expect(named("variables")).toEqual([...variableNames].sort());
  for (const kind of ["macro", "filter", "method"] as const)
    expect(named(`${kind}s`), kind).toEqual([...callNames[kind]].sort());
});
