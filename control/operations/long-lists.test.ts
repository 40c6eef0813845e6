import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestControl, type TestControl } from "../../tests/control.ts";
import { countRowsRead } from "../../tests/rows-read.ts";

const many = 1_000;
/** More than a page and what goes with it, and far less than there are. */
const few = 250;

let api: TestControl;
beforeAll(async () => {
  api = await startTestControl({ sandbox: "inline" });
  await fill(api);
});
afterAll(() => api?.[Symbol.asyncDispose]());

/** How an id ends that no counted one has. */
const none = "0".repeat(22);
const day = "to=2026-01-02T00:00:00Z";
test.each([
  ["jobs of a rare status", "/jobs?status=failed", 3],
  ["jobs of a rare kind", "/jobs?job_type=reset", 3],
  ["jobs of a connection", `/jobs?connection_id=cn_${none}`, 3],
  ["jobs of a pipeline", `/jobs?pipeline_id=pl_${none}`, 3],
  ["jobs, oldest first", "/jobs?sort=created_at", 50],
  ["jobs of a rare status, oldest first", "/jobs?status=failed&sort=created_at", 3],
  ["a rare action", `/audit-logs?${day}&action=rare.do`, 3],
  ["a rare resource", `/audit-logs?${day}&resource_id=rare`, 3],
  ["a rare kind of resource", `/audit-logs?${day}&resource_type=rare`, 3],
  ["a rare outcome", `/audit-logs?${day}&outcome=denied`, 3],
  ["a rare client", `/audit-logs?${day}&client=mcp`, 3],
  ["a rare person", `/audit-logs?${day}&actor_id=usr_rare`, 3],
  ["rare events", "/events?type=schema.changed", 3],
  ["events", "/events", 50],
  ["approvals of a rare status", "/approvals?status=rejected", 3],
  ["approvals of a rare operation", "/approvals?operation=source.delete", 3],
  ["deliveries of a rare status", "/webhook-endpoints/whe_many/deliveries?status=failed", 3],
  ["runs of reverse ETL", "/reverse-etl/runs", 50],
])("%s are found without a look at the others", async (_, path, count) => {
  const { answer, rowsRead } = await countRowsRead(api, () => api.call("GET", path));
  expect([answer.status, answer.body.details]).toEqual([200, undefined]);
  expect(answer.body.data.items).toHaveLength(count);
  expect(rowsRead).toBeLessThan(few);
});

/** Of everything as much, three of each kind rare, and the rare ones the oldest. */
async function fill({ db, first }: TestControl): Promise<void> {
  const numbers = sql`(SELECT n, n < 4 AS rare, lpad(n::text, 22, '0') AS digits,
    '2026-01-01T00:00:00Z'::timestamptz + n * interval '1 ms' AS at FROM generate_series(1, ${sql.lit(many)}) AS n) AS numbers`;
  const rows = [
    sql`INSERT INTO jobs (id, workspace_id, kind, subject_id, pipeline_id, connection_id, job_type, status, trigger,
        options, limits, max_attempts, runnable_at, created_at, ended_at, updated_at)
      SELECT 'job_' || digits, ${first.id}, 'sync', 'pl_' || digits, CASE WHEN rare THEN 'pl_' || repeat('0', 22) ELSE 'pl_' || digits END,
        CASE WHEN rare THEN 'cn_' || repeat('0', 22) ELSE 'cn_' || digits END, CASE WHEN rare THEN 'reset' ELSE 'sync' END,
        CASE WHEN rare THEN 'failed' ELSE 'succeeded' END, 'api', '{}', '[]', 1, at, at, at, at FROM ${numbers}`,
    sql`INSERT INTO audit_logs (id, workspace_id, index, occurred_at, actor_type, actor_id, actor_display, client, action,
        resource_type, resource_id, outcome, summary, request_id, hash)
      SELECT 'aud_' || digits, ${first.id}, n, at, 'user', CASE WHEN rare THEN 'usr_rare' ELSE 'usr_often' END, 'Somebody',
        CASE WHEN rare THEN 'mcp' ELSE 'api' END, CASE WHEN rare THEN 'rare.do' ELSE 'often.do' END,
        CASE WHEN rare THEN 'rare' ELSE 'often' END, CASE WHEN rare THEN 'rare' ELSE digits END,
        CASE WHEN rare THEN 'denied' ELSE 'success' END, '', digits, digits FROM ${numbers}`,
    sql`INSERT INTO events (id, workspace_id, type, data, for_administrators, occurred_at, created_at)
      SELECT 'evt_' || digits, ${first.id}, CASE WHEN rare THEN 'schema.changed' ELSE 'job.succeeded' END, '{}', false, at, at
      FROM ${numbers}`,
    sql`INSERT INTO webhook_endpoints (id, workspace_id, name, url, status, created_at, updated_at)
      VALUES ('whe_many', ${first.id}, 'Many', 'https://hooks.example.com/', 'enabled', now(), now())`,
    sql`INSERT INTO event_deliveries (id, workspace_id, event_id, endpoint_id, status, created_at, ended_at)
      SELECT 'dlv_' || digits, ${first.id}, 'evt_' || digits, 'whe_many', CASE WHEN rare THEN 'failed' ELSE 'succeeded' END, at, at
      FROM ${numbers}`,
    sql`INSERT INTO approvals (id, workspace_id, operation, category, status, source, method, path, params, query, body,
        sealed_paths, is_held, summary, payload_digest, resource_type, requires_distinct_approver, requested_by, session_id,
        created_at, expires_at)
      SELECT 'apr_' || digits, ${first.id}, CASE WHEN rare THEN 'source.delete' ELSE 'source.update' END, 'source_change',
        CASE WHEN rare THEN 'rejected' ELSE 'cancelled' END, 'api', 'PATCH', '/', '{}', '{}', '{}', '[]', false, '', '', 'source',
        false, ${first.users.admin}, (SELECT id FROM sessions WHERE user_id = ${first.users.admin}), at, at
      FROM ${numbers}`,
    sql`INSERT INTO reverse_etl_runs (id, workspace_id, activation_id, status, trigger, full_sync, dry_run, planned, successful,
        failed, created_at, finished_at)
      SELECT 'run_' || digits, ${first.id}, 'act_' || n % 100, 'succeeded', 'api', false, false, counts, counts, counts, at, at
      FROM ${numbers}, (VALUES ('{"addedCount":0,"changedCount":0,"removedCount":0}'::jsonb)) AS one (counts)`,
  ];
  for (const row of rows) await row.execute(db);
  await sql`ANALYZE`.execute(db);
}
