/** Output of a worker while a verb runs, in doubling sizes: each ends as it should. */
import { expect, test } from "vitest";
import { choose } from "../effort.ts";
import { createVictim, longestTurnMs } from "./exhaustion-case.ts";

const meet = createVictim();
const protocol = "CONNECTOR_PROTOCOL";
const MB = 1_000_000;

test.each<[verb: string, attack: string, sizes: number[], outcome: string]>([
  ["entities", "results", [2, 1_000], `${protocol} entities must give one object`],
  ["check", "results", [1, 1_000], `${protocol} an unexpected frame`],
  [
    "entities",
    "large-result",
    [2 * MB, 32 * MB],
    `${protocol} a frame is larger than 1048576 bytes`,
  ],
  [
    "entities",
    "values-of-a-result",
    [60_000, 120_000],
    `${protocol} the entities has more than 100000 values`,
  ],
  [
    "entities",
    "deep-result",
    [64, 100_000],
    `${protocol} the entities is nested deeper than 64 levels`,
  ],
  ["check", "logs", [5_000, 20_000, 40_000], "succeeded"],
  ["check", "large-logs", [10, 40], "succeeded"],
  ["check", "deep-logs", [10, 400], "succeeded"],
  ["check", "denied", [100, 2_000], "succeeded"],
  ["check", "output", [10, 400], "succeeded"],
  ["check", "failure", [1_000, 32 * MB], `${protocol} a frame is larger than 65536 bytes`],
  ["read", "large-status", [100_000, 32 * MB], `${protocol} a frame is larger than 65536 bytes`],
  ["read", "statuses", [2, 10_000], `${protocol} output of a stream after its end`],
  [
    "discover",
    "catalog-parts",
    [64, 160, 320],
    "CATALOG_TOO_LARGE it has more than 67108864 bytes",
  ],
  [
    "discover",
    "large-catalog-part",
    [2 * MB, 32 * MB],
    `${protocol} a frame is larger than 1048576 bytes`,
  ],
  [
    "discover",
    "values-of-a-catalog",
    [20, 60],
    "CATALOG_TOO_LARGE it has more than 4000000 values",
  ],
  ["discover", "streams-of-a-catalog", [15, 30, 60], "TOO_MANY_TABLES"],
  [
    "discover",
    "keys-of-a-catalog",
    [50_000, 80_000],
    `${protocol} a part of the catalog has more than 100000 values`,
  ],
  ["check", "large-request", [2 * MB, 32 * MB], `${protocol} a frame is larger than 1048576 bytes`],
  [
    "check",
    "values-of-a-request",
    [60_000, 120_000],
    `${protocol} a request has more than 100000 values`,
  ],
  ["check", "deep-request", [64, 100_000], `${protocol} a request is nested deeper than 64 levels`],
  ["check", "config-secrets", [8_000, 16_000, 32_000], "succeeded"],
  ["check", "basic-names", [30, 60], "succeeded"],
  ["check", "waits", [500, 1_100, 2_200], `${protocol} too many calls at once`],
  ["check", "waits-nobody-takes", [2], `${protocol} too many calls at once`],
  ["read", "rows", [50, 100], "succeeded"],
  ["read", "large-rows", [16 * MB], "succeeded"],
  ["read", "large-rows", [18 * MB, 32 * MB], `${protocol} a frame is larger than 17825792 bytes`],
  ["read", "many-rows", [60_000], "succeeded"],
  ["read", "many-rows", [70_000, 1_000_000], `${protocol} a batch has too many rows`],
  ["read", "large-state", [2 * MB, 32 * MB], `${protocol} a frame is larger than 1048576 bytes`],
  [
    "read",
    "values-of-a-state",
    [50_000, 150_000],
    `${protocol} a state has more than 200000 values`,
  ],
  ["read", "deep-state", [200, 400_000], `${protocol} a state is nested deeper than 200 levels`],
  ["read", "states", [500_000, 1 * MB], "STATE_TOO_LARGE"],
])("%s, %s %j: %s", async (verb, attack, sizes, outcome) => {
  const tried = choose({ quick: sizes.slice(-1), whole: sizes });
  const met = await meet(verb, attack, tried);
  expect(met.map(({ size }) => size)).toEqual(tried);
  expect(met.at(-1)?.outcome).toBe(outcome);
  for (const { busyMs } of met) expect(busyMs).toBeLessThan(longestTurnMs);
  expect(met.at(-1)?.grownMb).toBeLessThan(400);
});
