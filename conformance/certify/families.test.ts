import { expect, test } from "vitest";
import type { Rule } from "../contract/rule.ts";
import { families } from "./families.ts";
import { loadRules } from "./load-rules.ts";

const idsOf = (groups: readonly (readonly Pick<Rule, "id">[])[]) =>
  groups.map((group) => group.map(({ id }) => id));

test("rules that look at the same runs are in one group, and keep their order", async () => {
  const groups = idsOf(families(await loadRules()));
  const of = (id: string) => groups.find((group) => group.includes(id));
  expect(of("PAGE-01")).toContain("PAGE-08");
  expect(of("LEAK-01")).toEqual(
    expect.arrayContaining(["READ-02", "ERROR-05", "STATE-01", "RETRY-08", "NET-01"]),
  );
  expect(of("STATE-02")).not.toContain("STATE-01");
  for (const group of groups.filter((one) => !one.includes("LEAK-01")))
    expect(new Set(group.map((id) => id.split("-")[0])).size).toBe(1);
  expect(of("SCHEMA-01")?.slice(0, 3)).toEqual(["SCHEMA-01", "SCHEMA-02", "SCHEMA-03"]);
});

test("every rule is in one group, and what takes most runs is in the first ones", async () => {
  const rules = await loadRules();
  const groups = idsOf(families(rules));
  expect(groups.flat().sort()).toEqual(rules.map(({ id }) => id).sort());
  expect(groups.slice(0, 3).flat()).toEqual(expect.arrayContaining(["READ-02", "STATE-03"]));
  expect(groups.at(-1)).not.toContain("STATE-03");
});
