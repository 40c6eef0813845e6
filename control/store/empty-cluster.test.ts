import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { serialize } from "node:v8";
import { zstdCompress } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { packCluster, unpackCluster } from "./empty-cluster.ts";

let place: string;
let file: string;
beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), "svc-empty-cluster-"));
  const made = join(place, "made");
  await mkdir(join(made, "base/1"), { recursive: true });
  await mkdir(join(made, "pg_empty"));
  await writeFile(join(made, "PG_VERSION"), "18\n");
  await writeFile(join(made, "base/1/112"), Buffer.from([0, 255, 1]));
  await writeFile(join(made, "postmaster.pid"), "1\n");
  file = join(place, "cluster.zst");
  await writeFile(file, await packCluster(made));
});
afterAll(() => rm(place, { recursive: true, force: true }));

test("files of an empty database come out as they went in, for their owner alone", async () => {
  const folder = join(place, "first/database");
  expect(await unpackCluster(folder, file)).toBe(true);
  expect((await readdir(folder, { recursive: true })).sort()).toEqual([
    ...["PG_VERSION", "base", "base/1", "base/1/112", "pg_empty"],
  ]);
  expect([...(await readFile(join(folder, "base/1/112")))]).toEqual([0, 255, 1]);
});

test("what an earlier start left half unpacked is no part of the database", async () => {
  const folder = join(place, "second/database");
  await mkdir(`${folder}.new/base`, { recursive: true });
  await writeFile(join(`${folder}.new`, "base/half"), "half");
  expect(await unpackCluster(folder, file)).toBe(true);
  expect(await readdir(join(folder, "base"))).toEqual(["1"]);
  expect(await readdir(join(place, "second"))).toEqual(["database"]);
});

test("where there are none, or another version made them, PostgreSQL makes its own", async () => {
  const folder = join(place, "third/database");
  expect(await unpackCluster(folder, join(place, "none"))).toBe(false);
  const other = join(place, "other.zst");
  const cluster = { madeBy: "0.0.1", folders: [], files: [] };
  await writeFile(other, await promisify(zstdCompress)(serialize(cluster)));
  expect(await unpackCluster(folder, other)).toBe(false);
  expect(await readdir(place)).not.toContain("third");
});
