/**
 * A year of an instance, small: every promise holds at its end, and a year of the same seed is the
 * same year. tests/soak/run.ts makes larger ones by hand.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type SoakOptions, soak } from "./soak/soak.ts";

async function inFolder(options: Omit<SoakOptions, "folder">) {
  const folder = await mkdtemp(join(tmpdir(), "svc-soak-"));
  try {
    return await soak({ ...options, folder });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

test("a year of schedules, failures, people, agents, new keys, restarts, power cuts and an upgrade breaks no promise", async () => {
  const { months, counts } = await inFolder({
    seed: 5,
    days: 360,
    turnHours: 96,
    pipelines: { real: 2, light: 1 },
    deedsPerDay: 0.15,
  });
  // It is a year in which something has happened.
  expect(counts.attempts).toBeGreaterThan(30);
  expect(counts.comparisons).toBeGreaterThan(10);
  expect(counts.faults).toBeGreaterThan(10);
  expect((counts.stop ?? 0) + (counts["power cut"] ?? 0)).toBeGreaterThan(0);
  expect(counts["key rotations"]).toBeGreaterThan(0);
  expect(counts.upgrade).toBe(1);
  expect(counts["light rows"]).toBeGreaterThan(0);
  // It keeps no more at its end than at its beginning.
  const [, second] = months;
  const last = months.at(-1);
  expect(last?.heapBytes).toBeLessThan((second?.heapBytes ?? 0) * 1.5);
  expect(last?.rows).toBeLessThan((second?.rows ?? 0) * 2 + 10);
});

test("a seed repeats its year", async () => {
  const options = { days: 24, turnHours: 72, pipelines: { real: 2, light: 1 }, deedsPerDay: 0.7 };
  const one = await inFolder({ ...options, seed: 3 });
  const again = await inFolder({ ...options, seed: 3 });
  expect(one.deeds.length).toBeGreaterThan(10);
  expect(again.deeds).toEqual(one.deeds);
  expect(again.counts).toEqual(one.counts);
});
