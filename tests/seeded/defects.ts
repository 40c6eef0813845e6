/**
 * Tries seeded defects with the rules: exactly the named ones complain. Split over files, which run beside each other. Every defect
 * with every rule takes half an hour (`npm run conformance:matrix`); otherwise each is tried with its own rules and some others, which
 * are other ones for each defect.
 */
import { describe, expect, test } from "vitest";
import type { RuleReport } from "../../conformance/contract/report.ts";
import type { Rule } from "../../conformance/contract/rule.ts";
import { createRandom } from "../../conformance/random.ts";
import { toldResults } from "../../conformance/report/results.ts";
import { loadRules } from "../../conformance/rules.ts";
import type { Defect } from "../../fixtures/broken/defect.ts";
import { defectNames, type OpenLab, openDefect, tryAll } from "../../fixtures/reference/lab.ts";

const isWhole = process.env.KIT_MATRIX === "whole";
/** Rules besides a defect's own. */
const sampledOthers = 10;

/** Other rules only have to find nothing: a part of their samples is enough. */
const othersEffort = 0.2;

/** @param part from 0 to `parts` - 1 */
export async function testDefects(part: number, parts: number): Promise<void> {
  const rules = await loadRules();
  const names = (await defectNames()).filter((_, index) => index % parts === part);
  describe.each(names.map((name, index) => [name, index] as const))("%s", (name, index) => {
    test("is found by its rules", async () => {
      await using lab = await openDefect(name);
      const expected = expectedOf(lab.defect);
      const complaints = await complaintsOf(
        rules.filter(({ id }) => expected.includes(id)),
        lab,
      );
      expect(complaints.map(({ id }) => id).sort()).toEqual([...expected].sort());
    });

    test("is no concern of other rules", async () => {
      await using lab = await openDefect(name, othersEffort);
      const complaints = await complaintsOf(othersOf(rules, expectedOf(lab.defect), index), lab);
      expect(complaints.map(({ id, problems, reason }) => `${id}: ${problems[0]?.sentence ?? reason}`)).toEqual([]);
    });
  });
}

const expectedOf = ({ rule, also = [] }: Defect) => [rule, ...also];

async function complaintsOf(rules: readonly Rule[], lab: OpenLab): Promise<readonly RuleReport[]> {
  const { rules: reports } = await tryAll(rules, lab);
  return reports.filter(({ result }) => toldResults.includes(result));
}

/** In their order, since later ones look at the runs of earlier ones. */
function othersOf(rules: readonly Rule[], own: readonly string[], seed: number): readonly Rule[] {
  const others = rules.filter(({ id }) => !own.includes(id));
  const chosen = new Set(isWhole ? others : createRandom(seed).shuffle(others).slice(0, sampledOthers));
  return others.filter((rule) => chosen.has(rule));
}
