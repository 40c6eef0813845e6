import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestControl, type TestControl } from "../../tests/control.ts";
import { addJob, createStandingClock, type StandingClock } from "../../tests/control-jobs.ts";
import { openJobs, readQueue } from "./queue.ts";

let api: TestControl;
let clock: StandingClock;
beforeAll(async () => {
  clock = createStandingClock();
  api = await startTestControl({ clock });
});
afterAll(() => api?.[Symbol.asyncDispose]());

/** Jobs that have ended. */
const addHistory = (count: number) =>
  sql`INSERT INTO jobs (id, workspace_id, kind, subject_id, job_type, status, trigger, options, limits,
      max_attempts, runnable_at, created_at, updated_at)
    SELECT gen_random_uuid(), ${api.first.id}, 'sync', gen_random_uuid(), 'sync', 'succeeded', 'api', '{}',
      '[]', 8, now(), now(), now() FROM generate_series(1, ${count}::int)`.execute(api.db);

test("the queue is told by kind and state, whatever has run before, and no table is read for it", async () => {
  await addHistory(5_000);
  await addJob(api);
  clock.move(30_000);
  await addJob(api);
  await addJob(api, { kind: "reverse_etl" });
  clock.move(5_000);
  await sql`ANALYZE jobs`.execute(api.db);
  const readings = await readQueue(api.db, new Date(clock.now()));
  const value = (name: string, labels: object) =>
    readings.find(
      (one) => one.name === name && JSON.stringify(one.labels) === JSON.stringify(labels),
    )?.value;
  expect(value("svc_queue_jobs", { kind: "sync", state: "pending" })).toBe(2);
  expect(value("svc_queue_jobs", { kind: "reverse_etl", state: "pending" })).toBe(1);
  expect(value("svc_queue_jobs", { kind: "sync", state: "running" })).toBe(0);
  expect(value("svc_queue_oldest_seconds", { kind: "sync" })).toBe(35);
  expect(value("svc_queue_oldest_seconds", { kind: "reverse_etl" })).toBe(5);
  const plan = await sql<{ "QUERY PLAN": string }>`EXPLAIN ${openJobs()}`.execute(api.db);
  const lines = plan.rows.map((row) => row["QUERY PLAN"]).join("\n");
  expect(lines).toContain("jobs_open");
  expect(lines).not.toContain("Seq Scan on jobs");
});
