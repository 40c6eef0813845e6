/**
 * Seeded defects of destinations, split over files, which run beside each other: each is found by
 * the rule that it is named after, with a helpful text, and in CI is no concern of other rules (all
 * of them with `npm run conformance:matrix`, otherwise some that differ from defect to defect).
 */
import { readdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { tryRule } from "../../conformance/certify/certify.ts";
import { createRandom } from "../../conformance/contract/random.ts";
import { openDestinationLab } from "../../conformance/destination/lab.ts";
import { loadDestinationRules } from "../../conformance/destination/load-rules.ts";
import { defaultSettings } from "../../conformance/target/settings.ts";
import type { DestinationDefect } from "../../fixtures/broken-destinations/change-destination.ts";
import { choose, isWhole } from "../effort.ts";

const isMatrix = process.env.KIT_MATRIX === "whole";
/** Rules besides a defect's own. */
const sampledOthers = choose({ quick: 0, whole: 1 });
/** Those that start processes take seconds. */
const slow = ["DEST-03", "DEST-04", "DEST-12", "DEST-14", "DEST-15"];

const folder = new URL("../../fixtures/broken-destinations/", import.meta.url);
const rules = await loadDestinationRules();
const names = (await readdir(fileURLToPath(folder)))
  .filter((name) => /^dest-\d\d-.*\.ts$/.test(name))
  .sort();
const defects = await Promise.all(
  names.map(async (name, index) => ({
    name,
    index,
    ...((await import(new URL(name, folder).href)) as { defect: DestinationDefect }),
  })),
);

export function testDestinationRules(): void {
  test("the rules for destinations are numbered, and each has a defect of its own", () => {
    const ids = rules.map((_, index) => `DEST-${String(index + 1).padStart(2, "0")}`);
    expect(rules.map(({ id }) => id)).toEqual(ids);
    expect([...new Set(defects.map(({ defect }) => defect.rule))].sort()).toEqual(ids);
    for (const { name, defect } of defects)
      expect(name.toUpperCase().startsWith(`${defect.rule}-`)).toBe(true);
  });
}

/** @param part from 0 to `parts` - 1 */
export function testDestinationDefects(part: number, parts: number): void {
  const tried = defects.filter(({ defect }) => isWhole || !slow.includes(defect.rule));
  test.each(
    tried.filter((_, index) => index % parts === part),
  )("$name is found by its rule, and by no other", async ({ name, index, defect }) => {
    await using lab = await openDestinationLab({
      reference: { name: "broken", url: new URL(name, folder).href },
      settings: defaultSettings,
      network: {},
      seed: 1,
      isExhaustive: false,
      todayMs: Date.parse("2026-07-01T00:00:00Z"),
    });
    const others = rules.filter(
      ({ id }) =>
        ![defect.rule, ...(defect.also ?? [])].includes(id) && (isMatrix || !slow.includes(id)),
    );
    const chosen = isMatrix ? others : createRandom(index).shuffle(others).slice(0, sampledOthers);
    for (const rule of chosen) {
      const { id, result, problems, reason } = await tryRule(rule, lab);
      expect([id, result, problems[0]?.sentence ?? reason]).toEqual([id, "pass", undefined]);
    }
    const own = rules.find(({ id }) => id === defect.rule);
    const report = own && (await tryRule(own, lab));
    expect([report?.result, report?.reason]).toEqual(["fail", undefined]);
    expect(report?.problems.map(({ sentence }) => sentence).join("\n")).toMatch(defect.text);
  });
}
