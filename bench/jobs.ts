/**
 * Jobs per second through the queue on PostgreSQL, by 1, 2 and 4 workers: empty ones, against
 * pg-boss alone (one process with as many loops: fetch, nothing, complete), and such that use about
 * 20 ms of processor each, against one worker. `node --conditions=svc-source bench/jobs.ts [jobs]`
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { PgBoss } from "pg-boss";
import { createId } from "../control/contract/ids.ts";
import { createControl } from "../control/create-control.ts";
import { enqueueJob } from "../control/jobs/enqueue.ts";
import { silentLog } from "../control/log.ts";
import { openKeyring } from "../control/vault/keyring.ts";
import { createWorkspace } from "../control/workspaces.ts";
import { findPostgres, startPostgres } from "../simulators/postgres-server.ts";
import { type Result, startProgram } from "./run.ts";

const slots = 4;

export async function* benchJobs(jobCount = 400): AsyncGenerator<Result> {
  if (findPostgres() === undefined) return;
  await using server = await startPostgres({ settings: { max_connections: "200" } });
  const bare = await bareQueue((await server.createDatabase()).url, jobCount);
  const folder = await mkdtemp(join(tmpdir(), "svc-bench-"));
  const keyFile = join(folder, "keys.json");
  try {
    for (const busyMs of [0, 20]) {
      let baseline = busyMs === 0 ? bare : undefined;
      for (const workers of [1, 2, 4]) {
        const { url } = await server.createDatabase();
        await using control = await createControl({
          database: { url },
          keyring: await openKeyring(keyFile, { create: true }),
          jobs: "announce",
          log: silentLog,
        });
        const { db } = control.services.database;
        const now = new Date();
        const workspaceId = await createWorkspace(db, { name: "bench", slug: "bench" }, now);
        const started = await Promise.all(
          Array.from({ length: workers }, () =>
            startProgram("./jobs-worker.ts", url, keyFile, String(busyMs), String(slots)),
          ),
        );
        for (let index = 0; index < jobCount; index++)
          await enqueueJob(
            db,
            {
              workspaceId,
              kind: "sync",
              subjectId: createId("pipeline"),
              jobType: "sync",
              trigger: "api",
              options: {},
              limits: [],
            },
            now,
          );
        const startedMs = performance.now();
        control.services.jobs.wake();
        for (let left = jobCount; left > 0; ) {
          await new Promise((resolve) => setTimeout(resolve, 50));
          const { count } = await db
            .selectFrom("jobs")
            .select((eb) => eb.fn.countAll().as("count"))
            .where("status", "!=", "succeeded")
            .executeTakeFirstOrThrow();
          left = Number(count);
        }
        const perSecond = (jobCount * 1_000) / (performance.now() - startedMs);
        for (const one of started) one[Symbol.dispose]();
        baseline ??= perSecond;
        const what = busyMs === 0 ? "empty jobs" : `jobs of about ${busyMs} ms of processor`;
        const against = busyMs === 0 ? "pg-boss alone" : "one worker";
        yield {
          name: `${what} through the queue, ${workers} workers of ${slots} slots, against ${against}`,
          ours: `${perSecond.toFixed(0)}/s`,
          baseline: `${baseline.toFixed(0)}/s`,
          ratio: perSecond / baseline,
          aim: "",
        };
      }
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Fetch and complete, one process, as many loops as a worker has slots. */
async function bareQueue(connectionString: string, jobCount: number): Promise<number> {
  const boss = new PgBoss({ connectionString, schedule: false, supervise: false });
  await boss.start();
  await boss.createQueue("bench");
  await boss.insert(
    "bench",
    Array.from({ length: jobCount }, () => ({ data: {} })),
  );
  const startedMs = performance.now();
  await Promise.all(
    Array.from({ length: slots }, async () => {
      for (;;) {
        const [job] = await boss.fetch("bench");
        if (!job) return;
        await boss.complete("bench", job.id);
      }
    }),
  );
  const perSecond = (jobCount * 1_000) / (performance.now() - startedMs);
  await boss.stop();
  return perSecond;
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  for await (const { name, ours, baseline, ratio, aim } of benchJobs(
    Number(process.argv[2] ?? 400),
  ))
    console.log(`| ${name} | ${ours} | ${baseline} | ${ratio.toFixed(2)} | ${aim} |`);
