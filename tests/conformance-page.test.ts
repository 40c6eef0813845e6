import { readFileSync } from "node:fs";
import { loadRules } from "svc-connectors/conformance";
import { expect, test } from "vitest";
import { renderConformancePage } from "../docs/conformance-page.ts";

const rules = await loadRules();

test("docs/conformance.md is the page that the rules make; `npm run docs` rewrites it", () => {
  expect(readFileSync(new URL("../docs/conformance.md", import.meta.url), "utf8")).toBe(renderConformancePage(rules));
});

test("there are 120 rules, each with an id of its own and a text for every part of its page", () => {
  expect(new Set(rules.map(({ id }) => id)).size).toBe(120);
  for (const { id, title, why, fix, good, bad } of rules) {
    for (const text of [title, why, fix, good, bad]) expect([id, text.trim().length > 10]).toEqual([id, true]);
    expect([id, title.includes("\n")]).toEqual([id, false]);
  }
});
