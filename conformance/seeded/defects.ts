/** Tries seeded defects with every rule: exactly the named ones complain. Split over files, which run beside each other. */
import { describe, expect, test } from "vitest";
import { defectNames, openDefect, tryAll } from "../../fixtures/reference/lab.ts";
import type { RuleReport } from "../contract/report.ts";
import { toldResults } from "../report/results.ts";
import { loadRules } from "../rules.ts";

/** @param part from 0 to `parts` - 1 */
export async function testDefects(part: number, parts: number): Promise<void> {
  const rules = await loadRules();
  const names = (await defectNames()).filter((_, index) => index % parts === part);
  describe("a seeded defect is found by its rule, and no other rule complains", () => {
    test.each(names)("%s", async (name) => {
      await using lab = await openDefect(name);
      const { rules: reports } = await tryAll(rules, lab);
      const complaints = reports.filter(({ result }) => toldResults.includes(result));
      const expected = [lab.defect.rule, ...(lab.defect.also ?? [])].sort();
      expect(complaints.map(({ id }) => id).sort(), explain(complaints)).toEqual(expected);
    });
  });
}

const explain = (complaints: readonly RuleReport[]) =>
  complaints.map(({ id, problems, reason }) => `${id}: ${problems[0]?.sentence ?? reason}`).join("\n");
