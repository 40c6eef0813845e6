/**
 * Tries seeded defects with the rules: exactly the named ones complain. Split over files, which run
 * beside each other. Every defect with every rule takes an hour on two quiet cores (`npm run
 * conformance:matrix` prints each as it ends); otherwise each is tried with a rule that has nothing
 * to say of it, another one for each defect. That a defect is found by the rule it is named
 * after is that rule's own test.
 */
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { loadRules } from "../../conformance/certify/load-rules.ts";
import { createRandom } from "../../conformance/contract/random.ts";
import type { RuleReport } from "../../conformance/contract/report.ts";
import type { Rule } from "../../conformance/contract/rule.ts";
import { problemResults } from "../../conformance/report/results.ts";
import type { Defect } from "../../fixtures/broken/defect.ts";
import {
  defectEfforts,
  defectNames,
  type OpenLab,
  openDefect,
  readDefect,
  tryAll,
} from "../../fixtures/reference/lab.ts";

const isMatrix = process.env.KIT_MATRIX === "whole";
/** Rules besides a defect's own. */
const sampledOthers = 1;

/**
 * Rules that wait in real time: on a loaded machine they may take slowness for a defect. Their own
 * tests try them.
 */
const timed = ["CANCEL-02", "CANCEL-04", "CANCEL-05", "CHECK-05", "SCHEMA-05"];

/** Other rules only have to find nothing: a part of their samples is enough. */
const othersEffort = 0.2;

/** @param part from 0 to `parts` - 1 */
export async function testDefects(part: number, parts: number): Promise<void> {
  const rules = await loadRules();
  const names = (await defectNames()).filter((_, index) => index % parts === part);
  const defects = await Promise.all(
    names.map(async (name) => ({ name, defect: await readDefect(name) })),
  );
  test.each(defects)("$name is no concern of other rules", async ({ name, defect }) => {
    await using lab = await openDefect(name, othersEffort);
    const complaints = await complaintsOf(othersOf(rules, name, expectedOf(defect)), lab);
    expect(
      complaints.map(({ id, problems, reason }) => `${id}: ${problems[0]?.sentence ?? reason}`),
    ).toEqual([]);
  });

  // Its own rule's test finds it by that.
  const findersOf = (defect: Defect) => (isMatrix ? expectedOf(defect) : (defect.also ?? []));
  const tried = defects.filter(({ defect }) => findersOf(defect).length > 0);
  test.each(tried)("$name is found by each of its rules", async ({ name, defect }) => {
    const expected = [...findersOf(defect)].sort();
    let found: string[] = [];
    for (const effort of isMatrix ? [1] : defectEfforts) {
      await using lab = await openDefect(name, effort);
      const complaints = await complaintsOf(
        rules.filter(({ id }) => expected.includes(id)),
        lab,
      );
      found = complaints.map(({ id }) => id).sort();
      if (found.length === expected.length) break;
    }
    expect(found).toEqual(expected);
  });
}

const expectedOf = ({ rule, also = [] }: Defect) => [rule, ...also];

async function complaintsOf(rules: readonly Rule[], lab: OpenLab): Promise<readonly RuleReport[]> {
  const { rules: reports } = await tryAll(rules, lab);
  return reports.filter(({ result }) => problemResults.includes(result));
}

/**
 * In their order, since later ones look at the runs of earlier ones. Chosen by the defect's name, so
 * that a new defect changes no other choice.
 */
function othersOf(rules: readonly Rule[], name: string, own: readonly string[]): readonly Rule[] {
  const seed = createHash("sha256").update(name).digest().readUInt32LE(0);
  const others = rules.filter(({ id }) => !own.includes(id) && (isMatrix || !timed.includes(id)));
  const chosen = new Set(
    isMatrix ? others : createRandom(seed).shuffle(others).slice(0, sampledOthers),
  );
  return others.filter((rule) => chosen.has(rule));
}
