/** Definitions of a connector in doubling sizes: refused, and not taken in. */
import { expect, test } from "vitest";
import { budgets } from "../../runtime/contract/budgets.ts";
import { choose } from "../effort.ts";
import { createVictim, longestTurnMs } from "./exhaustion-case.ts";

const meet = createVictim();
const invalid = "CONNECTOR_INVALID";

test.each<[attack: string, sizes: number[], outcome: string]>([
  ["settings", [100, 200, 400, 800], `${invalid} spec has more than 200 settings and other parts`],
  ["long-schema", [100_000, 400_000, 800_000], `${invalid} spec is larger than 262144 bytes`],
  ["long-schema", [8_000_000, 64_000_000], `${invalid} definition is larger than 2097152 bytes`],
  ["deep-schema", [8, 16, 32], `${invalid} definition is nested deeper than 64 levels`],
  ["deep-schema", [1_000, 2_000], `${invalid} definition is nested deeper than 64 levels`],
  ["default-of-choices", [500, 2_000], `${invalid} spec has more than 5000 values`],
  ["default-of-choices", [100_000], `${invalid} definition is larger than 2097152 bytes`],
  ["types", [500, 1_000, 2_000], `${invalid} spec has a list of more than 1000 items`],
  ["types", [10_000, 20_000], `${invalid} spec has more than 5000 values`],
  ["required", [1_000, 2_000], `${invalid} spec has a list of more than 1000 items`],
  ["alternatives", [50, 100, 200], `${invalid} spec has more than 200 settings and other parts`],
  ["unique-items", [500, 1_000, 2_000], `${invalid} spec has a list of more than 1000 items`],
  ["long-pattern", [1_000, 2_000], `${invalid} spec has a pattern of more than 1000 characters`],
  ["error-rules", [200, 400], `${invalid} egress.errors must NOT have more than 200 items`],
  ["authentications", [8, 16], `${invalid} egress.auth must NOT have more than 10 items`],
  ["fixed-headers", [50, 100], `${invalid} egress.headers must NOT have more than 50 properties`],
  ["fixed-streams", [3_000, 6_001], "TOO_MANY_TABLES"],
  ["fixed-streams", [20_000, 40_000], `${invalid} definition is larger than 2097152 bytes`],
  ["keys-of-a-stream", [50_000, 100_000], `${invalid} definition has more than 100000 values`],
  [
    "answers-at-once",
    [4 * 1024 * 1024, 8 * 1024 * 1024],
    `${invalid} egress.maxResponseBytes must be at most 268435456 divided by the concurrency`,
  ],
])("%s %j: %s", async (attack, sizes, outcome) => {
  const tried = choose({ quick: sizes.slice(-1), whole: sizes });
  const met = await meet("spec", attack, tried);
  expect(met.map(({ size }) => size)).toEqual(tried);
  expect(met.at(-1)?.outcome).toBe(outcome);
  for (const { busyMs } of met) expect(busyMs).toBeLessThan(longestTurnMs);
  expect(met.at(-1)?.grownMb).toBeLessThan(100);
});

const slow = `${invalid} schema has a pattern, or references, that take too long`;

test.each<[attack: string, sizes: number[], outcome: string]>([
  ["slow-pattern", [32, 64], slow],
  ["slow-pattern", [1_000, 10_000, 100_000], slow],
])("%s %j is stopped before the host has stood still for a tenth of a second: %s", async (attack, sizes, outcome) => {
  expect(budgets.validation.seconds).toBe(0.06);
  const met = await meet("check", attack, sizes);
  expect(met.map((one) => one.outcome)).toEqual(sizes.map(() => outcome));
  for (const { busyMs } of met) expect(busyMs).toBeLessThan(longestTurnMs);
});
