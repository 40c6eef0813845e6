import { randomUUID } from "node:crypto";
import { type Kysely, sql } from "kysely";
import type { JobRow } from "../contract/job.ts";
import type { JobLimits } from "../settings.ts";
import type { Tables } from "../store/tables.ts";
import { leaseMs } from "./lease.ts";
import { statusesBefore } from "./transitions.ts";

/** A job that this process runs now. */
export interface ClaimedJob {
  /** As it is since the claim. */
  readonly job: JobRow;
  readonly leaseId: string;
  readonly leaseUntil: Date;
  /** Of the job's connection; 0 without one. */
  readonly fence: number;
}

export interface Claim {
  /** Names this process, for operators. */
  readonly worker: string;
  readonly limits: JobLimits;
  /** Connectors of destinations that only one writer can have open. */
  readonly exclusiveConnectors: readonly string[];
  readonly now: Date;
}

/**
 * Claims are made one after another, on whatever host: each counts what those before it have taken.
 */
const claimLock = 7_236_401_182;

/**
 * Takes the job whose turn it is: of the workspace with the fewest running jobs, the oldest one
 * that no limit holds back. Its attempt begins: a lease of its own, and a fence above all earlier
 * ones.
 * @returns undefined when nothing can run now
 */
export function claimJob(db: Kysely<Tables>, claim: Claim): Promise<ClaimedJob | undefined> {
  const { worker, now } = claim;
  return db.transaction().execute(async (tx) => {
    await sql`SELECT pg_advisory_xact_lock(${claimLock}::bigint)`.execute(tx);
    const { rows } = await fairest(claim).execute(tx);
    const [next] = rows;
    if (!next) return undefined;
    const leaseId = randomUUID();
    const leaseUntil = new Date(now.getTime() + leaseMs);
    const job = await tx
      .updateTable("jobs")
      .set((eb) => ({
        status: "running" as const,
        attempt: eb("attempt", "+", 1),
        lease_id: leaseId,
        lease_until: leaseUntil,
        worker,
        started_at: eb.fn.coalesce("started_at", eb.val(now)),
        updated_at: now,
      }))
      .where("id", "=", next.id)
      .returningAll()
      .executeTakeFirstOrThrow();
    await tx
      .insertInto("job_attempts")
      .values({ job_id: job.id, attempt: job.attempt, status: "running", worker, started_at: now })
      .execute();
    const connection = await tx
      .updateTable("connections")
      .set({ fence: sql<bigint>`fence + 1` })
      .where("id", "=", job.connection_id)
      .returning("fence")
      .executeTakeFirst();
    return { job, leaseId, leaseUntil, fence: Number(connection?.fence ?? 0) };
  });
}

/** Row locks besides the claim lock: a job that is being cancelled at the moment is passed over. */
const fairest = ({ limits, exclusiveConnectors, now }: Claim) => sql<{ readonly id: string }>`
  WITH running AS (SELECT workspace_id, limits FROM jobs WHERE status = 'running'),
  busy AS (SELECT workspace_id, count(*) AS jobs FROM running GROUP BY workspace_id),
  used AS (SELECT key, count(*) AS jobs FROM running, jsonb_array_elements_text(running.limits) AS key GROUP BY key),
  full_keys AS (
    SELECT key FROM used WHERE jobs >= CASE
      WHEN key LIKE 'credential:%' THEN ${limits.perCredential}::int
      WHEN key LIKE 'provider:%' THEN ${limits.perProvider}::int
      WHEN EXISTS (
        SELECT FROM destinations
        WHERE key = 'destination:' || id AND connector_id = ANY(${[...exclusiveConnectors]}::text[])
      ) THEN 1
      ELSE ${limits.perDestination}::int END
  )
  SELECT jobs.id FROM jobs LEFT JOIN busy USING (workspace_id)
  WHERE jobs.status = ANY(${statusesBefore("running")}::text[]) AND jobs.runnable_at <= ${now}
    AND coalesce(busy.jobs, 0) < ${limits.perWorkspace}::int
    AND NOT EXISTS (SELECT FROM full_keys WHERE jobs.limits ? full_keys.key)
  ORDER BY coalesce(busy.jobs, 0), jobs.created_at, jobs.id
  LIMIT 1 FOR UPDATE OF jobs SKIP LOCKED`;
