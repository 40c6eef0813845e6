import type { Kysely } from "kysely";
import { each } from "./statements.ts";

/** What a job was to bring is known by the version of its pipeline's selection. */
const selections = [
  "ALTER TABLE pipelines ADD COLUMN selection_version integer NOT NULL DEFAULT 0",
  "ALTER TABLE jobs ADD COLUMN selection_version integer",
];

/**
 * Requests that servers have counted together, by budget and token or address, as the library
 * rate-limiter-flexible writes them. A minute's counts are nothing that a crash of the database must
 * leave.
 */
const budgets = [
  `CREATE UNLOGGED TABLE request_budgets (
    key varchar(255) PRIMARY KEY,
    points integer NOT NULL DEFAULT 0,
    expire bigint
  ) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000)`,
];

/** For those who watch the queue: open jobs are few beside those that have run. */
const openJobs =
  "CREATE INDEX jobs_open ON jobs (kind, status, runnable_at) WHERE status IN ('pending', 'queued', 'running', 'incomplete')";

export async function up(db: Kysely<unknown>): Promise<void> {
  await each(db, [...selections, ...budgets, openJobs]);
}
