/**
 * How fast the leak scanner reads clean records, against JSON.stringify of the same records in the
 * same run.
 */
import { performance } from "node:perf_hooks";
import { createScanner } from "../runtime/filter/scanner.ts";
import { insideJson, secretViews } from "../runtime/filter/secret-views.ts";

const rowCount = 200_000;
const rounds = 7;

/** Repeatable pseudo-random numbers below 2^31 (Park and Miller, 1988). */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state;
  };
}

const random = createRandom(7);
const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const token = () => Array.from({ length: 45 }, () => letters[random() % letters.length]).join("");

const rows = Array.from({ length: rowCount }, (_, index) => ({
  id: index,
  email: `person${random()}@example.com`,
  name: `Name ${token().slice(0, 6)} ${token().slice(0, 9)}`,
  status: ["active", "unsubscribed", "bounced"][random() % 3],
  opened_at: new Date(1_700_000_000_000 + random()).toISOString(),
  rate: random() / 2 ** 31,
  tags: ["a", "newsletter", "customer"].slice(random() % 3),
  note: "Opened the message twice, then asked to be called back about the offer.",
}));

const secrets = Array.from({ length: 10 }, token);
const views = secrets.flatMap(secretViews);
const scanner = createScanner([...views, ...insideJson(views)]);
const lines = Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join(""));

const stringify: number[] = [];
const scan: number[] = [];
for (let round = 0; round < rounds; round++) {
  stringify.push(timed(() => rows.reduce((length, row) => length + JSON.stringify(row).length, 0)));
  scan.push(timed(() => scanner.holds(lines)));
}
const stringifySpeed = lines.length / median(stringify) / 1000;
const scanSpeed = lines.length / median(scan) / 1000;
console.log(
  JSON.stringify({
    bench: "leak-scanner",
    secrets: secrets.length,
    megabytes: Math.round(lines.length / 1e6),
    scanMBs: Math.round(scanSpeed),
    stringifyMBs: Math.round(stringifySpeed),
    ratio: Number((scanSpeed / stringifySpeed).toFixed(2)),
  }),
);

function timed(work: () => unknown): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}
