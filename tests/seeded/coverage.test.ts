import { expect, test } from "vitest";
import { loadRules } from "../../conformance/certify/load-rules.ts";
import { defectNames, openReference, readDefect, tryAll } from "../../fixtures/reference/lab.ts";

const rules = await loadRules();
const names = await defectNames();
const defects = await Promise.all(names.map(readDefect));

test("there are at least 130 seeded defects, each named after the rule that finds it", () => {
  expect(names.length).toBeGreaterThanOrEqual(130);
  for (const [index, name] of names.entries())
    expect(name.toUpperCase().startsWith(`${defects[index]?.rule}-`)).toBe(true);
});

test("every rule has a defect that it alone finds", () => {
  const alone = new Set(
    defects.filter(({ also = [] }) => also.length === 0).map(({ rule }) => rule),
  );
  expect(rules.map(({ id }) => id).filter((id) => !alone.has(id))).toEqual([]);
});

/**
 * The whole matrix takes whole samples; otherwise half of each is enough to see that nobody
 * complains.
 */
const effort = process.env.KIT_MATRIX === "whole" ? 1 : 0.5;

test.each([
  "connector",
  "program",
  "oauth-connector",
  "oauth-program",
] as const)("the reference %s meets every rule that applies to it", async (base) => {
  await using lab = await openReference(base, effort);
  const report = await tryAll(rules, lab);
  const complaints = report.rules.filter(
    ({ result }) => result !== "pass" && result !== "not-applicable",
  );
  expect(
    complaints.map(({ id, problems, reason }) => [id, problems[0]?.sentence ?? reason]),
  ).toEqual([]);
  expect(report.verdict).toBe("passed");
});
