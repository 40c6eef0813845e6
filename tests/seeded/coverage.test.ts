import { readdir } from "node:fs/promises";
import { expect, test } from "vitest";
import { loadRules } from "../../conformance/certify/load-rules.ts";
import { yields } from "../../conformance/certify/yields.ts";
import { defectNames, readDefect } from "../../fixtures/reference/lab.ts";

const rules = await loadRules();
const names = await defectNames();
const ofLogs = (await readdir(new URL("../../fixtures/broken-changes/", import.meta.url))).flatMap(
  (name) => /^cdc-\d\d/.exec(name)?.[0].toUpperCase() ?? [],
);
const defects = [
  ...(await Promise.all(names.map(readDefect))),
  // Of a database's log, which recordings do not have; its rules find them in a suite of their own.
  ...ofLogs.map((rule) => ({ rule, also: [] })),
];

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

test("a budget is planned by defects that each rule does find", () => {
  const found = (id: string) =>
    defects.filter(({ rule, also = [] }) => rule === id || also.includes(id)).length;
  const wrong = rules.filter(({ id }) => {
    const { finds = 0 } = yields[id] ?? {};
    return finds < 1 || finds > found(id);
  });
  expect(wrong.map(({ id }) => id)).toEqual([]);
});
