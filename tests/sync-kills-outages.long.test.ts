/**
 * Crash truth when not svc itself dies but what it stands on: PostgreSQL, with everything that is
 * kept and read in it, and the disk of the warehouse. Seeded as sync-kills.slow.test.ts.
 */
import { execFileSync } from "node:child_process";
import { chmod, chown, mkdir, open, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, test } from "vitest";
import { createRandom } from "../fixtures/random.ts";
import { findPostgres, type PostgresDatabase } from "../simulators/postgres-server.ts";
import { attemptRows } from "./control-jobs.ts";
import { createCounts, createPlace, forever, killCount, type Place, seed } from "./sync-kills.ts";
import { type Bench, openBench } from "./sync-kills-bench.ts";

const rowCount = 200;
const syncsPerPlace = 4;
const counts = createCounts();
const isRoot = process.platform === "linux" && process.getuid?.() === 0;

describe.skipIf(findPostgres() === undefined)(`a sync (seed ${seed})`, () => {
  let bench: Bench;
  const mounted: string[] = [];
  beforeAll(async () => {
    bench = await openBench();
  });
  afterEach(() => counts.print());
  afterAll(async () => {
    for (const folder of mounted) execFileSync("umount", ["-l", folder]);
    await bench?.[Symbol.asyncDispose]();
  });

  /** Syncs with an outage at a moment of each, until there were enough. `share`: of all kills. */
  async function outages(
    victim: string,
    {
      share,
      random,
      into,
      happen,
    }: {
      readonly share: number;
      readonly random: () => number;
      readonly into: () => Promise<"duckdb" | PostgresDatabase>;
      /** The outage, until it is over. */
      happen(jobId: string): Promise<void>;
    },
  ): Promise<void> {
    let place: Place | undefined;
    let momentCount = 0;
    for (let syncs = 0; counts.of(victim) < killCount * share; syncs += 1) {
      if (!place || syncs % syncsPerPlace === 0)
        place = await createPlace(bench.ask, bench.postgres, {
          rowCount,
          random,
          into: await into(),
        });
      else await place.truth.change();
      const momentAt = Math.ceil(random() * momentCount * 0.9);
      const { worker } = await bench.order({ momentAt, action: "tell" });
      const reached = momentAt === 0 ? undefined : worker.moment();
      const { job } = await bench.ask("POST", `/pipelines/${place.pipelineId}/sync`, {});
      const ended = bench.untilFinished(job.job_id);
      if (reached && (await Promise.race([reached.then(() => true), ended.then(() => false)]))) {
        await happen(job.job_id);
      }
      await ended;
      if (momentCount === 0) momentCount = (await bench.order({ momentAt: 0 })).momentCount ?? 0;
      await bench.checkTruth(place, job.job_id);
      // An outage that no attempt noticed would prove nothing.
      if ((await attemptRows(bench.api, job.job_id)).length > 1) counts.add(victim);
    }
  }

  test.each(["duckdb", "postgres"] as const)(
    "into %s equals its source although PostgreSQL is stopped at once and started again",
    { timeout: forever },
    async (kind) => {
      await outages(`PostgreSQL, into ${kind}`, {
        share: 0.05,
        random: createRandom(seed + kind.length),
        into: async () => (kind === "duckdb" ? kind : await bench.postgres.createDatabase()),
        happen: () => bench.postgres.restart(),
      });
    },
  );

  /** A disk of its own, which tests fill up. */
  async function mount(folder: string, sizeMb: number): Promise<void> {
    await mkdir(folder, { recursive: true });
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${sizeMb}m,mode=0755`, "svc-kills", folder]);
    mounted.push(folder);
  }

  /** The disk is full until an attempt has failed, or the job got by with what it had. */
  const fillUp = (folder: string) => async (jobId: string) => {
    const path = join(folder, "filler");
    const attempts = (await attemptRows(bench.api, jobId)).length;
    const file = await open(path, "w");
    const part = Buffer.alloc(1024 * 1024);
    while (await file.write(part).catch(() => undefined));
    await file.close();
    for (;;) {
      const rows = await attemptRows(bench.api, jobId);
      if (rows.length > attempts || rows.at(-1)?.status !== "running") break;
    }
    await rm(path);
  };

  describe.skipIf(!isRoot)("on a disk that is full for a while", () => {
    test("into duckdb equals its source", { timeout: forever }, async () => {
      await mount(bench.warehouses, 96);
      await outages("full disk, into duckdb", {
        share: 0.05,
        random: createRandom(seed + 10),
        into: async () => "duckdb",
        happen: fillUp(bench.warehouses),
      });
    });

    test("into postgres equals its source", { timeout: forever }, async () => {
      const disk = join(bench.folder, "disk");
      await mount(disk, 96);
      const space = join(disk, "space");
      await mkdir(space, { mode: 0o700 });
      await chmod(bench.folder, 0o711);
      const [data] = await bench.postgres
        .createDatabase()
        .then(({ query }) => query("SHOW data_directory"));
      const { uid, gid } = await stat(String(data?.data_directory));
      await chown(space, uid, gid);
      const admin = await bench.postgres.createDatabase();
      await admin.query(`CREATE TABLESPACE small LOCATION '${space}'`);
      await outages("full disk, into postgres", {
        share: 0.05,
        random: createRandom(seed + 11),
        async into() {
          const database = await bench.postgres.createDatabase();
          await admin.query(`ALTER DATABASE ${database.name} SET TABLESPACE small`);
          return database;
        },
        happen: fillUp(disk),
      });
    });
  });
});
