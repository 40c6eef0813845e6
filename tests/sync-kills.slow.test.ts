/**
 * Crash truth: kill -9 at seeded moments of syncs in all modes, into DuckDB and PostgreSQL. Whatever was killed is started again, the
 * job goes on by itself, and the warehouse equals the source. `KILLS=1000 SEED=7` is run by hand.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createScaledClock } from "svc-connectors/host";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { openKeyring } from "../control/vault/keyring.ts";
import { findPostgres, type PostgresServer, startPostgres } from "../fixtures/providers/postgres-server.ts";
import { startTestControl, type TestControl } from "./control.ts";
import { attemptRows, jobRow } from "./control-jobs.ts";
import { queryDestination } from "./control-pipelines.ts";
import { type Ask, createPlace, type KillsWorker, type Place, startKillsWorker, until } from "./sync-kills.ts";
import { createRandom, warehouseQuery } from "./sync-truth.ts";

const killCount = Number(process.env.KILLS ?? 20);
const seed = Number(process.env.SEED ?? 20_261_121);
/** Of a table at the beginning. */
const rowCount = 200;
/** Syncs of one source, before another one begins with empty tables. */
const syncsPerPlace = 6;
/** A job is given up after eight attempts that have committed nothing. */
const killsPerSync = 5;
const forever = 4 * 3_600_000;
const counts: Record<string, number> = {};
const count = (victim: string) => {
  counts[victim] = (counts[victim] ?? 0) + 1;
};

describe.skipIf(findPostgres() === undefined)(`a sync (seed ${seed})`, () => {
  let postgres: PostgresServer;
  let folder: string;
  let api: TestControl;
  let spare: KillsWorker;
  let startSpare: () => KillsWorker;
  let aheadMs = 0;

  beforeAll(async () => {
    // What is committed outlives the server here.
    postgres = await startPostgres({ settings: { synchronous_commit: "on" } });
    folder = await mkdtemp(join(tmpdir(), "svc-sync-kills-"));
    const { url } = await postgres.createDatabase();
    const keyFile = join(folder, "keys.json");
    const warehouses = join(folder, "warehouses");
    api = await startTestControl({
      database: { url },
      keyring: await openKeyring(keyFile, { create: true }),
      clock: createScaledClock(1),
      sandbox: "inline",
      jobs: "announce",
      settings: { network: { approvedHosts: [], allowNetworks: ["127.0.0.1/32"] }, warehouses },
    });
    startSpare = () => startKillsWorker({ databaseUrl: url, keyFile, warehouses });
    spare = startSpare();
  });
  afterEach(() => console.log(`seed ${seed}, kills so far:`, counts));
  afterAll(async () => {
    await spare?.kill();
    await api?.[Symbol.asyncDispose]();
    await postgres?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const ask: Ask = async (method, path, body) => {
    const answer = await api.call(method, path, body ? { body } : {});
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.text}`);
    return answer.body.data;
  };

  /** A worker that has not begun yet, in whose time the leases of those before it have ended. */
  const takeSpare = () => {
    const taken = spare;
    spare = startSpare();
    aheadMs += 31_000;
    return taken;
  };

  const checkTruth = async ({ truth, target, destinationId, attemptCount }: Place) => {
    const rows = target
      ? (await target.query(warehouseQuery)).map(({ stream, line }) => [String(stream), String(line)] as const)
      : (await queryDestination(api, destinationId, warehouseQuery)).map(([stream, line]) => [String(stream), String(line)] as const);
    truth.compare(rows, attemptCount);
  }; // biome-ignore format: one line a case

  const finished = async (jobId: string) => {
    const { status, failure } = await jobRow(api, jobId);
    if (status === "failed") throw new Error(`the job failed: ${JSON.stringify(failure)}`);
    return status === "succeeded" ? true : undefined;
  };

  describe.each(["postgres"] as const)("into %s", (kind) => {
    test("equals its source however often its worker is killed", { timeout: forever }, async () => {
      const random = createRandom(seed + (kind === "duckdb" ? 0 : 1));
      const victim = `worker, into ${kind}`;
      const wanted = Math.ceil(killCount * 0.35);
      let worker: KillsWorker | undefined;
      let place: Place | undefined;
      let momentCount = 0;
      for (let syncs = 0; (counts[victim] ?? 0) < wanted; syncs += 1) {
        if (syncs % syncsPerPlace === 0) {
          const into = kind === "duckdb" ? kind : await postgres.createDatabase();
          place = await createPlace(ask, postgres, { rowCount, random, into });
        }
        if (!place) throw new Error("there is a place");
        if (syncs % syncsPerPlace > 0) await place.truth.change();
        const { job } = await ask("POST", `/pipelines/${place.pipelineId}/sync`, {});
        const jobId: string = job.job_id;
        for (let kills = 0; ; ) {
          const isKilled = momentCount > 0 && kills < killsPerSync;
          const momentAt = isKilled ? 1 + Math.floor(random() * momentCount) : 0;
          const delayMs = random() < 0.5 ? 0 : random() * 20;
          worker ??= takeSpare();
          console.log("T", performance.now() | 0, "order", momentAt, "of", momentCount);
          const before = await worker.order({ momentAt, delayMs, action: "die", aheadMs });
          if (momentCount === 0) momentCount = before;
          api.control.services.jobs.wake();
          const isGone = worker.ended.then(() => false as const);
          const isDone = await Promise.race([isGone, until("the end of the job", () => finished(jobId))]);
          console.log("T", performance.now() | 0, "done", isDone);
          if (isDone) break;
          worker = undefined;
          kills += 1;
          count(victim);
        }
        console.log("T", performance.now() | 0, (await attemptRows(api, jobId)).map((r) => [r.attempt, r.status, r.started_at.toISOString(), r.ended_at?.toISOString(), r.failure && JSON.stringify(r.failure)].join(" ")));
        place.attemptCount += (await attemptRows(api, jobId)).length;
        await place.truth.synced();
        await checkTruth(place);
      }
      await worker?.kill();
    });
  });

  test("kills as many as were asked for", () => {
    expect(Object.values(counts).reduce((sum, one) => sum + one, 0)).toBeGreaterThanOrEqual(killCount / 2);
  });
});
