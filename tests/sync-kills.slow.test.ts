/**
 * Crash truth: kill -9 at seeded moments of syncs in all modes, and of jobs that clear and reset,
 * into DuckDB and PostgreSQL. Whatever was killed is started again, the job goes on by itself, and
 * the warehouse equals the source. `KILLS=1000 SEED=7` is run by hand.
 */
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { DuckDBInstance } from "@duckdb/node-api";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { enqueueJob } from "../control/jobs/enqueue.ts";
import { newSyncJob } from "../control/jobs/sync-job.ts";
import { findPipeline } from "../control/pipelines/rows.ts";
import { createRandom } from "../fixtures/random.ts";
import { type MailerSimulator, startMailer } from "../simulators/mailer/mailer.ts";
import { findPostgres } from "../simulators/postgres-server.ts";
import { addDestination, addPipeline, queryDestination } from "./control-pipelines.ts";
import { addCredential, addSource } from "./control-rows.ts";
import { choose, skipUnlessWhole } from "./effort.ts";
import { prepareInstance } from "./instance.ts";
import { type Served, startServe } from "./served.ts";
import {
  type Ask,
  createCounts,
  createPlace,
  forever,
  JobFailed,
  killCount,
  type Place,
  seed,
  until,
} from "./sync-kills.ts";
import { type Bench, openBench } from "./sync-kills-bench.ts";
import { warehouseQuery } from "./sync-truth.ts";

/** Of a table at the beginning. */
const rowCount = 200;
/** Syncs of one source, before another one begins with empty tables. */
const syncsPerPlace = 6;
/** A job is given up after eight attempts that have committed nothing. */
const killsPerSync = 5;
const counts = createCounts();

describe.skipIf(findPostgres() === undefined)(`a job that is killed (seed ${seed})`, () => {
  let bench: Bench;
  let mailer: MailerSimulator;
  beforeAll(async () => {
    mailer = await startMailer({
      seed,
      lists: 2,
      subscribersPerList: 250,
      campaigns: 10,
      opensPerCampaign: 120,
    });
    bench = await openBench({ mailer, spareCount: 2 });
  });
  afterEach(() => counts.print());
  afterAll(async () => {
    await bench?.[Symbol.asyncDispose]();
    await mailer?.close();
  });

  /**
   * Runs a job to its end while its workers are killed. `momentCount`: of a whole job, once one was
   * seen.
   */
  const moments: Record<string, number> = {};
  async function killWorkers(victim: string, jobId: string, random: () => number): Promise<void> {
    for (let kills = 0; ; kills += 1) {
      const momentCount = moments[victim] ?? 0;
      const momentAt = kills < killsPerSync ? Math.ceil(random() * momentCount) : 0;
      const { worker } = await bench.order({
        momentAt,
        delayMs: random() < 0.5 ? 0 : random() * 20,
      });
      const isGone = worker.ended.then(() => "gone" as const);
      const end = await Promise.race([
        isGone,
        until("the end of the job", () => bench.finished(jobId)),
      ]);
      if (end === "gone") {
        bench.forgetWorker();
        counts.add(victim);
        continue;
      }
      const after = await bench.order({ momentAt: 0 });
      if (after.momentCount === undefined) counts.add(victim);
      else if (kills === 0) moments[victim] = Math.max(momentCount, after.momentCount);
      return;
    }
  }

  test.each(choose({ quick: ["postgres"], whole: ["duckdb", "postgres"] } as const))(
    "in its worker, into %s, leaves the truth",
    { timeout: forever },
    async (kind) => {
      const share = 0.35;
      const random = createRandom(seed + share + kind.length);
      const victim = `worker, into ${kind}`;
      let place: Place | undefined;
      for (let syncs = 0; counts.of(victim) < killCount * share; syncs += 1) {
        if (!place || syncs % syncsPerPlace === 0) {
          const into = kind === "duckdb" ? kind : await bench.postgres.createDatabase();
          place = await createPlace(bench.ask, bench.postgres, { rowCount, random, into });
        } else await place.truth.change();
        const { job } = await bench.ask("POST", `/pipelines/${place.pipelineId}/sync`, {});
        await killWorkers(victim, job.job_id, random);
        await bench.checkTruth(place, job.job_id);
      }
    },
  );

  test.each(choose({ quick: [], whole: ["duckdb", "postgres"] } as const))(
    "that clears, or resets, in its worker, into %s, leaves empty tables, or the truth",
    { timeout: forever },
    async (kind) => {
      const share = 0.15;
      const random = createRandom(seed + share + kind.length);
      const victims = { clear: `clear, into ${kind}`, reset: `reset, into ${kind}` } as const;
      const isDone = (type: keyof typeof victims) => counts.of(victims[type]) >= killCount * share;
      let place: Place | undefined;
      for (let jobs = 0; !isDone("clear") || !isDone("reset"); jobs += 1) {
        if (!place || jobs % syncsPerPlace === 0) {
          const into = kind === "duckdb" ? kind : await bench.postgres.createDatabase();
          place = await createPlace(bench.ask, bench.postgres, { rowCount, random, into });
        } else await place.truth.change();
        const type = jobs % 2 === 0 ? "clear" : "reset";
        const isFilled = jobs % syncsPerPlace !== 0 && type === "clear";
        if (!isFilled) {
          const { job: sync } = await bench.ask("POST", `/pipelines/${place.pipelineId}/sync`, {});
          await bench.order({ momentAt: 0 });
          await bench.untilFinished(sync.job_id);
          await bench.checkTruth(place, sync.job_id);
        }
        const { job } = await bench.ask("POST", `/pipelines/${place.pipelineId}/${type}`, {});
        await killWorkers(victims[type], job.job_id, random);
        await bench.checkTruth(place, job.job_id, type);
      }
    },
  );

  test(
    "in its worker, from a provider's API, leaves the truth",
    {
      timeout: forever,
    },
    async (context) => {
      skipUnlessWhole(context);
      const { api } = bench;
      const { services } = api.control;
      const victim = "worker, from the mailer";
      const random = createRandom(seed + 3);
      const catalog = await services.connectors.catalog(
        services.connectors.get("conn_mailer_product_edm"),
      );
      const credential = await addCredential(api, { api_token: mailer.token });
      const sourceId = await addSource(api, credential, { base_url: mailer.baseUrl });
      const destinationId = await addDestination(api, { configuration: { file: "mails" } });
      const keys = {
        subscribers: ["uuid"],
        campaigns: ["uuid"],
        campaign_opens: ["campaign_uuid", "subscriber_uuid"],
      } as const;
      const { id } = await addPipeline(
        api,
        { sourceId, destinationId },
        catalog,
        Object.keys(keys),
      );
      for (let syncs = 0; counts.of(victim) < killCount * 0.1; syncs += 1) {
        if (syncs > 0) {
          const sentAt = new Date(
            Date.parse("2026-06-01T00:00:00Z") + syncs * 60_000,
          ).toISOString();
          mailer.mutate.addOpen(mailer.mutate.addCampaign({ sentAt, opens: 30 }), sentAt);
        }
        const pipeline = await findPipeline(api.db, api.first.id, id);
        const job = await newSyncJob(api.db, pipeline, { trigger: "api" });
        await killWorkers(victim, await enqueueJob(api.db, job, new Date()), random);
        for (const [stream, names] of Object.entries(keys)) {
          const sql = `SELECT ${names.join(", ")} FROM _svc_${stream}`;
          const found = (await queryDestination(api, destinationId, sql)).map((row) => row.join());
          const truth = mailer.truth[stream as keyof typeof keys]() as readonly Record<
            string,
            unknown
          >[];
          expect(found.toSorted()).toEqual(
            truth.map((row) => names.map((name) => row[name]).join()).toSorted(),
          );
        }
      }
    },
  );

  test.each(choose({ quick: [], whole: ["duckdb", "postgres"] } as const))(
    "in its server with everything in one process, into %s, leaves the truth",
    { timeout: forever },
    async (kind) => {
      const random = createRandom(seed + 4 + kind.length);
      const victim = `server, into ${kind}`;
      const cwd = await mkdtemp(join(tmpdir(), "svc-serve-kills-"));
      await writeFile(join(cwd, "svc.config.yaml"), "allow_networks: [127.0.0.1/32]\n");
      await prepareInstance(cwd);
      let served: Served = await startServe({ cwd });
      const { token } = served;
      const ask: Ask = async (method, path, body) => {
        const { status, body: answer } = await served.call(method, path, {
          token,
          ...(body ? { body } : {}),
        });
        if (status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`);
        return answer.data;
      };
      const finished = async (jobId: string) => {
        const { status, failure } = await ask("GET", `/jobs/${jobId}`);
        if (status === "failed") throw new JobFailed(JSON.stringify(failure));
        return status === "succeeded" ? true : undefined;
      };
      const into = kind === "duckdb" ? kind : await bench.postgres.createDatabase();
      const place = await createPlace(ask, bench.postgres, { rowCount, random, into });
      let durationMs = 0;
      for (let syncs = 0; counts.of(victim) < killCount * 0.05; syncs += 1) {
        if (syncs > 0) await place.truth.change();
        const { job } = await ask("POST", `/pipelines/${place.pipelineId}/sync`, {});
        const startedMs = performance.now();
        for (let kills = 0; durationMs > 0 && kills < 2; kills += 1) {
          await pause(random() * durationMs);
          if (await finished(job.job_id)) break;
          await served.end("SIGKILL");
          counts.add(victim);
          served = await startServe({ cwd });
        }
        await until("the end of the job", () => finished(job.job_id));
        durationMs ||= performance.now() - startedMs;
        place.attemptCount += (await ask("GET", `/jobs/${job.job_id}`)).attempts.length;
        await place.truth.synced();
        const rows = place.target
          ? await place.target.query(warehouseQuery)
          : await readFiles(join(cwd, ".svc", "warehouses"));
        place.truth.compare(
          rows.map(({ stream, line }) => [String(stream), String(line)] as const),
          place.attemptCount,
        );
      }
      await served[Symbol.asyncDispose]();
      await rm(cwd, { recursive: true });
    },
  );
});

/** The rows of the one DuckDB file in the folder, which nobody has open. */
async function readFiles(folder: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const files = await readdir(folder, { recursive: true });
  const file = files.find((name) => name.endsWith(".duckdb"));
  const instance = await DuckDBInstance.create(join(folder, file ?? ""), {
    access_mode: "READ_ONLY",
  });
  const connection = await instance.connect();
  const reader = await connection.runAndReadAll(warehouseQuery);
  connection.closeSync();
  instance.closeSync();
  return reader.getRowObjectsJson();
}
