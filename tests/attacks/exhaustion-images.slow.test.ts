/** What Docker says of an image, of which its builder writes the most. */
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createVictim, longestTurnMs } from "./exhaustion-case.ts";

const meet = createVictim();

/** A command `docker` that knows the images in its folder. */
const script = `#!/bin/sh
here=$(dirname "$0")
[ "$1" = version ] && exec echo linux
for name; do :; done
cat "$here/$name"
`;
const before = process.env.PATH;
let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-docker-"));
  await writeFile(join(folder, "docker"), script);
  await chmod(join(folder, "docker"), 0o755);
  process.env.PATH = `${folder}${delimiter}${before}`;
});
afterAll(async () => {
  process.env.PATH = before;
  await rm(folder, { recursive: true, force: true });
});

const describe = (labels: string, more = "0") =>
  `{"Id":"sha256:${"a".repeat(64)}","Architecture":"${process.arch === "x64" ? "amd64" : process.arch}",` +
  `"Os":"linux","More":${more},"Config":{"User":"65534","Labels":{${labels}}}}`;
const labels = (count: number) =>
  Array.from({ length: count }, (_, index) => `"label${index}":""`).join(",");
const invalid = "CONNECTOR_INVALID the image";

test.each<[string, number[], string, (size: number) => string]>([
  ["labels", [500, 5_000], "succeeded", (size) => describe(labels(size))],
  [
    "labels",
    [25_000, 50_000],
    `${invalid} says more of itself than is read: it has more than 20000 values`,
    (size) => describe(labels(size)),
  ],
  [
    "long-label",
    [2_000_000, 4_000_000, 16_000_000],
    `${invalid} says more of itself than is read: it is larger than 1048576 bytes`,
    (size) => describe(`"label":"${"x".repeat(size)}"`),
  ],
  [
    "deep",
    [100, 1_000, 200_000],
    `${invalid} says more of itself than is read: it is nested deeper than 64 levels`,
    (size) => describe("", "[".repeat(size) + "]".repeat(size)),
  ],
  ["no-json", [10], "SANDBOX_UNAVAILABLE Docker says of an image what is no JSON", () => "{"],
])("%s %j: %s", async (attack, sizes, outcome, write) => {
  for (const size of sizes) await writeFile(join(folder, `${attack}-${size}`), write(size));
  const met = await meet("image", attack, sizes);
  expect(met.map((one) => one.outcome)).toEqual(sizes.map(() => outcome));
  for (const { busyMs } of met) expect(busyMs).toBeLessThan(longestTurnMs);
  expect(met.at(-1)?.grownMb).toBeLessThan(100);
});
