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
import { defectNames, openDefect, tryAll } from "../../fixtures/reference/lab.ts";

const isWhole = process.env.KIT_MATRIX === "whole";
/** Rules besides a defect's own. */
const sampledOthers = 10;

/** @param part from 0 to `parts` - 1 */
export async function testDefects(part: number, parts: number): Promise<void> {
  const rules = await loadRules();
  const names = (await defectNames()).filter((_, index) => index % parts === part);
  describe("a seeded defect is found by its rule, and no other rule complains", () => {
    test.each(names.map((name, index) => [name, index] as const))("%s", async (name, index) => {
      await using lab = await openDefect(name);
      const { rules: reports } = await tryAll(choose(rules, expectedOf(lab.defect), index), lab);
      const complaints = reports.filter(({ result }) => toldResults.includes(result));
      const expected = [...expectedOf(lab.defect)].sort();
      expect(complaints.map(({ id }) => id).sort(), explain(complaints)).toEqual(expected);
    });
  });
}

const expectedOf = ({ rule, also = [] }: Defect) => [rule, ...also];

/** In their order, since later ones look at the runs of earlier ones. */
function choose(rules: readonly Rule[], own: readonly string[], seed: number): readonly Rule[] {
  if (isWhole) return rules;
  const others = new Set(createRandom(seed).shuffle(rules).slice(0, sampledOthers));
  return rules.filter((rule) => own.includes(rule.id) || others.has(rule));
}

const explain = (complaints: readonly RuleReport[]) =>
  complaints.map(({ id, problems, reason }) => `${id}: ${problems[0]?.sentence ?? reason}`).join("\n");
