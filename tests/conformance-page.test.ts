import { readFileSync } from "node:fs";
import { loadDestinationRules, loadRules } from "svc-connectors/conformance";
import { expect, test } from "vitest";
import { renderConformancePage } from "../docs/conformance-page.ts";

const rules = await loadRules();
const destinationRules = await loadDestinationRules();

test("docs/conformance.md is the page that the rules make; `npm run docs` rewrites it", () => {
  expect(readFileSync(new URL("../docs/conformance.md", import.meta.url), "utf8")).toBe(
    renderConformancePage(rules, destinationRules),
  );
});

test("every rule has an id of its own and a text for every part of its page", () => {
  for (const some of [rules, destinationRules])
    expect(new Set(some.map(({ id }) => id)).size).toBe(some.length);
  for (const { id, title, why, fix, good, bad } of [...rules, ...destinationRules]) {
    for (const text of [title, why, fix, good, bad])
      expect([id, text.trim().length > 10]).toEqual([id, true]);
    expect([id, title.includes("\n")]).toEqual([id, false]);
  }
});
