import { sql } from "kysely";
import type { Services } from "../services/services.ts";
import { claimLock } from "./claim.ts";

/** Jobs of one statement: claims wait for it, some milliseconds. */
const stepSize = 200;
/** The rest comes with the next sweep. */
const stepsAtOnce = 20;

/**
 * Jobs that nobody has taken since they were made wait for a worker, or for a limit: people see
 * them as queued. Takes the claims' lock, so that no claim passes over a job for its sake.
 */
export async function queueWaiting({
  database: { db },
  clock,
}: Pick<Services, "database" | "clock">): Promise<void> {
  const now = new Date(clock.now());
  for (let step = 0; step < stepsAtOnce; step += 1) {
    const { numAffectedRows } = await sql`
      WITH claims AS MATERIALIZED (
        SELECT pg_advisory_xact_lock(${claimLock}::bigint), set_config('synchronous_commit', 'off', true)
      )
      UPDATE jobs SET status = 'queued', updated_at = ${now}
      WHERE status = 'pending' AND id IN (
        SELECT id FROM jobs
        WHERE EXISTS (SELECT FROM claims) AND status = 'pending' AND runnable_at <= ${now}
        ORDER BY runnable_at LIMIT ${stepSize} FOR UPDATE SKIP LOCKED
      )`.execute(db);
    if (Number(numAffectedRows ?? 0) < stepSize) return;
  }
}
