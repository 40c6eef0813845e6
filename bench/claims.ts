/**
 * How long a claim takes, by how many jobs wait: on PostgreSQL that writes to its disk, with 100
 * jobs running. `node --conditions=svc-source bench/claims.ts [waiting jobs …]`
 */
import { sql } from "kysely";
import { createId } from "../control/contract/ids.ts";
import { type ClaimedJob, claimJob } from "../control/jobs/claim.ts";
import { defaultJobLimits } from "../control/services/settings.ts";
import { type Database, openDatabase } from "../control/store/database.ts";
import { type PostgresServer, startPostgres } from "../simulators/postgres-server.ts";
import { processorMs } from "./processor.ts";

/** Jobs that run meanwhile. */
const runningCount = 100;
const claimCount = 200;
const limits = { ...defaultJobLimits, perProvider: 40 };

interface Shape {
  readonly name: string;
  /**
   * SQL of the limits of job n, which begins with 1; `workspace` is the number of its workspace.
   */
  readonly limits: string;
  readonly workspaces: number;
  readonly runs: boolean;
}

const shapes: readonly Shape[] = [
  {
    name: "100 workspaces, 1,000 credentials, 200 warehouses, 5 providers",
    workspaces: 100,
    limits: `jsonb_build_array('credential:' || n % 1000, 'provider:' || n % 5, 'destination:' || n % 200)`,
    runs: true,
  },
  {
    name: "one workspace, a credential for each job",
    workspaces: 1,
    limits: `jsonb_build_array('credential:' || n, 'provider:' || n % 5, 'destination:' || n % 20)`,
    runs: true,
  },
  {
    name: "all but the last held back by a full provider",
    workspaces: 1_000,
    limits: `jsonb_build_array('credential:' || n, CASE WHEN n = top THEN 'provider:free' ELSE 'provider:full' END, 'destination:' || n % 1000)`,
    runs: true,
  },
  {
    name: "all held back by one warehouse, in one workspace",
    workspaces: 1,
    limits: `jsonb_build_array('credential:' || n, 'provider:' || n % 5, 'destination:full')`,
    runs: false,
  },
  {
    name: "all held back by one credential, in one workspace",
    workspaces: 1,
    limits: `jsonb_build_array('credential:full', 'provider:1', 'destination:1')`,
    runs: false,
  },
];

const addJobs = (
  query: (sql: string) => Promise<unknown>,
  { limits, workspaces }: Pick<Shape, "limits" | "workspaces">,
  count: number,
) =>
  query(`INSERT INTO workspaces (id, name, slug, created_at)
      SELECT 'ws_' || n, 'bench', 'ws-' || n, now() FROM generate_series(0, ${workspaces}) n;
    INSERT INTO jobs (id, workspace_id, kind, subject_id, job_type, status, trigger, options, limits,
      max_attempts, runnable_at, created_at, updated_at)
    SELECT 'job_' || gen_random_uuid(), 'ws_' || n % ${workspaces}, 'sync', gen_random_uuid(), 'sync', 'pending', 'api', '{}', ${limits},
      8, at, at, at
    FROM (SELECT n, ${count} AS top, now() - interval '1 day' + n * interval '1 ms' AS at FROM generate_series(1, ${count}) n) jobs;
    ANALYZE jobs`);

const backend = async ({ db }: Database): Promise<number> =>
  (await sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`.execute(db)).rows[0]?.pid ?? 0;

async function timed<T>(work: () => Promise<T>): Promise<[T, number]> {
  const startedMs = performance.now();
  const result = await work();
  return [result, performance.now() - startedMs];
}

const claim = ({ db }: Database) =>
  claimJob(db, { worker: createId("job"), limits, exclusiveConnectors: [], now: new Date() });

const end = ({ db }: Database, { job }: ClaimedJob) =>
  db
    .updateTable("jobs")
    .set({ status: "succeeded", lease_id: null, ended_at: new Date() })
    .where("id", "=", job.id)
    .execute();

async function measure(server: PostgresServer, shape: Shape, waiting: number): Promise<string> {
  const { url, query } = await server.createDatabase();
  await using database = await openDatabase({ url, maxConnections: 1 });
  await addJobs(query, shape, waiting);
  const running: ClaimedJob[] = [];
  const take = async (isKept: boolean) => {
    const [claimed, tookMs] = await timed(() => claim(database));
    if (claimed && isKept) running.push(claimed);
    return { claimed, tookMs };
  };
  if (shape.runs)
    while (running.length < Math.min(runningCount, waiting / 2) && (await take(true)).claimed);
  else while ((await take(false)).claimed);
  const times: number[] = [];
  const pid = await backend(database);
  const startMs = await processorMs(pid);
  let found = 0;
  for (let count = 0; count < claimCount; count += 1) {
    const ended = shape.runs && running.shift();
    if (ended) await end(database, ended);
    const { claimed, tookMs } = await take(true);
    times.push(tookMs);
    if (claimed) found += 1;
  }
  const usedMs = (await processorMs(pid)) - startMs;
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.floor(times.length * share)]?.toFixed(1);
  return `| ${shape.name} | ${waiting} | ${at(0.5)} | ${at(0.95)} | ${at(0.99)} | ${(usedMs / claimCount).toFixed(2)} | ${found} of ${claimCount} |`;
}

/** So many hosts, each with a connection, that claim and end jobs as fast as they can. */
async function measureHosts(
  server: PostgresServer,
  shape: Shape,
  waiting: number,
  hostCount: number,
): Promise<string> {
  const { url, query } = await server.createDatabase();
  const hosts = await Promise.all(
    Array.from({ length: hostCount }, () => openDatabase({ url, maxConnections: 1 })),
  );
  await addJobs(query, shape, waiting);
  // A session plans its first claim, which takes longer.
  for (const host of hosts) {
    const claimed = await claim(host);
    if (claimed) await end(host, claimed);
  }
  const times: number[] = [];
  const durationMs = 10_000;
  const startedMs = performance.now();
  await Promise.all(
    hosts.map(async (host) => {
      while (performance.now() - startedMs < durationMs) {
        const [claimed, tookMs] = await timed(() => claim(host));
        times.push(tookMs);
        if (claimed) await end(host, claimed);
      }
    }),
  );
  const perSecond = (times.length * 1_000) / (performance.now() - startedMs);
  const connections = await query(
    "SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = current_database()",
  );
  for (const host of hosts) await host[Symbol.asyncDispose]();
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.floor(times.length * share)]?.toFixed(1);
  return `| ${hostCount} hosts that do nothing else, ${waiting} waiting | ${perSecond.toFixed(0)} claims/s | ${at(0.5)} | ${at(0.95)} | ${at(0.99)} | ${Number(connections[0]?.count) - 1} connections |`;
}

const counts = process.argv.slice(2).map(Number);
await using server = await startPostgres({
  settings: { fsync: "on", synchronous_commit: "on", max_connections: "200" },
});
console.log(
  "| jobs | waiting | p50 ms | p95 ms | p99 ms | processor ms | claimed |\n|---|---|---|---|---|---|---|",
);
for (const shape of shapes)
  for (const waiting of counts.length > 0 ? counts : [100, 10_000, 100_000, 1_000_000])
    console.log(await measure(server, shape, waiting));
const [mixed] = shapes;
console.log("\n| hosts | claims | p50 ms | p95 ms | p99 ms | |\n|---|---|---|---|---|---|");
for (const hostCount of [1, 2, 10, 50])
  if (mixed) console.log(await measureHosts(server, mixed, 100_000, hostCount));
