/**
 * Jobs per second through the queue on PostgreSQL: empty ones, such that use 20 ms of processor and
 * such that last 20 and 100 ms, by 1, 2 and 4 workers; and 50 hosts on one database.
 * `node --conditions=svc-source bench/jobs.ts [jobs [words of the kind of jobs]]`
 */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { sql } from "kysely";
import { Pool } from "pg";
import { createId } from "../control/contract/ids.ts";
import { createControl } from "../control/create-control.ts";
import type { Control } from "../control/door/control.ts";
import { claimLock } from "../control/jobs/claim.ts";
import { enqueueJob } from "../control/jobs/enqueue.ts";
import { createWorkspace } from "../control/members/workspaces.ts";
import { silentLog } from "../control/services/log.ts";
import { openKeyring } from "../control/vault/keyring.ts";
import {
  findPostgres,
  type PostgresDatabase,
  type PostgresServer,
  startPostgres,
} from "../simulators/postgres-server.ts";
import type { BenchWorkerOptions } from "./jobs-worker.ts";
import { familyProcessorMs, parentOf, processorMs } from "./processor.ts";
import { type Result, startProgram } from "./run.ts";

interface Load {
  readonly server: PostgresServer;
  readonly keyFile: string;
  /** Processes, and hosts that each of them plays. */
  readonly processes: number;
  readonly hostsEach: number;
  readonly work: Pick<BenchWorkerOptions, "busyMs" | "lastsMs" | "slots">;
  readonly jobCount: number;
}

interface Outcome {
  readonly perSecond: number;
  /** To the database, while jobs ran. */
  readonly connections: number;
  /** Transactions per second of the same workers when there was nothing to do. */
  readonly idleTransactions: number;
  /** Milliseconds of processor that PostgreSQL and the workers used for each job. */
  readonly serverMs: number;
  readonly workerMs: number;
  /**
   * Shares of the time in which somebody had the claims' lock, and in which somebody waited for it.
   */
  readonly lockHeld: number;
  readonly lockAwaited: number;
}

/** Runs so many jobs of ten workspaces. */
async function runJobs(load: Load): Promise<Outcome> {
  const { server, keyFile, processes, hostsEach, work, jobCount } = load;
  const database = await server.createDatabase();
  await using control = await createControl({
    database: { url: database.url },
    keyring: await openKeyring(keyFile, { create: true }),
    jobs: "announce",
    log: silentLog,
  });
  const options: BenchWorkerOptions = { url: database.url, keyFile, hostsEach, ...work };
  const started = await Promise.all(
    Array.from({ length: processes }, () =>
      startProgram("./jobs-worker.ts", JSON.stringify(options)),
    ),
  );
  const idleTransactions = await transactionsPerSecond(database, 6_000);
  await addJobs(control, jobCount);
  const { db } = control.services.database;
  const { rows } = await sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`.execute(db);
  const serverPid = await parentOf(rows[0]?.pid ?? 0);
  const used = async () => ({
    serverMs: await familyProcessorMs(serverPid),
    workerMs: (await familyProcessorMs(process.pid)) - (await processorMs(process.pid)),
  });
  const before = await used();
  const startedMs = performance.now();
  const lock = watchClaimLock(database.url);
  control.services.jobs.wake();
  let connections = 0;
  for (let left = jobCount; left > 0; ) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    const counts = await sql<{ jobs: number; connections: number }>`
      SELECT (SELECT count(*)::int FROM jobs WHERE status NOT IN ('succeeded', 'failed', 'cancelled')) AS jobs,
        (SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database()) AS connections`.execute(
      db,
    );
    left = counts.rows[0]?.jobs ?? 0;
    connections = Math.max(connections, counts.rows[0]?.connections ?? 0);
  }
  const perSecond = (jobCount * 1_000) / (performance.now() - startedMs);
  const locked = await lock.stop();
  const after = await used();
  const serverMs = (after.serverMs - before.serverMs) / jobCount;
  const workerMs = (after.workerMs - before.workerMs) / jobCount;
  for (const one of started) one[Symbol.dispose]();
  return { perSecond, connections, idleTransactions, serverMs, workerMs, ...locked };
}

/**
 * Looks at the claims' lock a hundred times a second: what share of the time it is held bounds
 * what any number of workers can do.
 */
function watchClaimLock(connectionString: string) {
  const pool = new Pool({ connectionString, max: 1 });
  let isOver = false;
  let [looks, held, awaited] = [0, 0, 0];
  const watching = (async () => {
    while (!isOver) {
      const { rows } = await pool.query<{ held: boolean; awaited: boolean }>(
        `SELECT coalesce(bool_or(granted), false) AS held, coalesce(bool_or(NOT granted), false) AS awaited
          FROM pg_locks WHERE locktype = 'advisory' AND (classid::bigint << 32) | objid::bigint = $1`,
        [claimLock],
      );
      looks += 1;
      if (rows[0]?.held) held += 1;
      if (rows[0]?.awaited) awaited += 1;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    await pool.end();
  })();
  return {
    async stop() {
      isOver = true;
      await watching;
      return { lockHeld: held / looks, lockAwaited: awaited / looks };
    },
  };
}

async function transactionsPerSecond({ query }: PostgresDatabase, durationMs: number) {
  const count = async () => {
    const [row] = await query(
      "SELECT xact_commit::int AS count FROM pg_stat_database WHERE datname = current_database()",
    );
    return Number(row?.count);
  };
  const before = await count();
  await new Promise((resolve) => setTimeout(resolve, durationMs));
  return ((await count()) - before) / (durationMs / 1_000);
}

async function addJobs({ services: { database } }: Control, jobCount: number): Promise<void> {
  const now = new Date();
  const workspaces: string[] = [];
  for (let index = 0; index < 10; index++)
    workspaces.push(
      await createWorkspace(database.db, { name: "bench", slug: `bench-${index}` }, now),
    );
  for (let index = 0; index < jobCount; index++)
    await enqueueJob(
      database.db,
      {
        workspaceId: workspaces[index % workspaces.length] ?? "",
        kind: "sync",
        subjectId: createId("pipeline"),
        jobType: "sync",
        trigger: "api",
        options: {},
        limits: [],
      },
      now,
    );
}

/** By how much more so many workers shall do than one. */
const aims: Readonly<Record<number, string>> = { 2: "≥ 1.8", 4: "≥ 3.2" };

/** @param only words that the names of the kinds of jobs contain; default: all kinds, and hosts */
export async function* benchJobs(jobCount = 400, only = ""): AsyncGenerator<Result> {
  if (findPostgres() === undefined) return;
  await using server = await startPostgres({
    settings: { max_connections: "800", fsync: "on", synchronous_commit: "on" },
  });
  const folder = await mkdtemp(join(tmpdir(), "svc-bench-"));
  const keyFile = join(folder, "keys.json");
  const kinds = [
    { name: "empty jobs", work: { busyMs: 0, lastsMs: 0, slots: 4 } },
    { name: "jobs of 20 ms of processor", work: { busyMs: 20, lastsMs: 0, slots: 4 } },
    // One place leaves the processors of two cores to four workers: the queue is what is measured.
    { name: "jobs that last 20 ms", work: { busyMs: 0, lastsMs: 20, slots: 1 } },
    { name: "jobs that last 20 ms", work: { busyMs: 0, lastsMs: 20, slots: 4 } },
    { name: "jobs that last 100 ms", work: { busyMs: 0, lastsMs: 100, slots: 4 } },
  ].filter(({ name }) => name.includes(only));
  try {
    const bare = await bareQueue((await server.createDatabase()).url, jobCount, 4);
    for (const { name, work } of kinds) {
      let baseline = name === "empty jobs" ? bare : undefined;
      for (const processes of [1, 2, 4]) {
        const load = { server, keyFile, processes, hostsEach: 1, work, jobCount };
        const { perSecond, serverMs, workerMs, lockHeld, lockAwaited } = await runJobs(load);
        baseline ??= perSecond;
        const against = name === "empty jobs" ? "a bare table with SKIP LOCKED" : "one worker";
        yield {
          name: `${name} through the queue, ${processes} workers of ${work.slots} slots, against ${against}`,
          ours: `${perSecond.toFixed(0)}/s; processor ms a job: worker ${workerMs.toFixed(1)}, PostgreSQL ${serverMs.toFixed(1)}; lock held ${percent(lockHeld)}, waited for ${percent(lockAwaited)} of the time`,
          baseline: `${baseline.toFixed(0)}/s`,
          ratio: perSecond / baseline,
          aim: name === "empty jobs" ? "" : (aims[processes] ?? ""),
        };
      }
    }
    if (only !== "") return;
    const slots = 4;
    const work = { busyMs: 0, lastsMs: 200, slots };
    const load = { server, keyFile, processes: 2, hostsEach: 25, work };
    const { perSecond, connections, idleTransactions } = await runJobs({ ...load, jobCount });
    const bound = (50 * slots * 1_000) / 200;
    yield {
      name: `jobs that last 200 ms, 50 hosts of ${slots} slots, against no queue at all; ${connections} connections, ${idleTransactions.toFixed(0)} transactions/s without a job`,
      ours: `${perSecond.toFixed(0)}/s`,
      baseline: `${bound}/s`,
      ratio: perSecond / bound,
      aim: "",
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const percent = (share: number) => `${(share * 100).toFixed(0)} %`;

/** Take and complete, one process, as many loops as a worker has slots. */
async function bareQueue(
  connectionString: string,
  jobCount: number,
  slots: number,
): Promise<number> {
  const pool = new Pool({ connectionString, max: slots });
  await pool.query("CREATE TABLE jobs (id int PRIMARY KEY, status text NOT NULL)");
  await pool.query("INSERT INTO jobs SELECT n, 'pending' FROM generate_series(1, $1::int) n", [
    jobCount,
  ]);
  const startedMs = performance.now();
  await Promise.all(
    Array.from({ length: slots }, async () => {
      for (;;) {
        const { rows } = await pool.query(
          `UPDATE jobs SET status = 'running' WHERE id = (
            SELECT id FROM jobs WHERE status = 'pending' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED
          ) RETURNING id`,
        );
        if (!rows[0]) return;
        await pool.query("UPDATE jobs SET status = 'succeeded' WHERE id = $1", [rows[0].id]);
      }
    }),
  );
  const perSecond = (jobCount * 1_000) / (performance.now() - startedMs);
  await pool.end();
  return perSecond;
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  for await (const { name, ours, baseline, ratio, aim } of benchJobs(
    Number(process.argv[2] ?? 400),
    process.argv[3],
  ))
    console.log(`| ${name} | ${ours} | ${baseline} | ${ratio.toFixed(2)} | ${aim} |`);
