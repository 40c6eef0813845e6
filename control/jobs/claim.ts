import { randomUUID } from "node:crypto";
import { type Kysely, sql } from "kysely";
import type { JobRow } from "../contract/job.ts";
import type { JobLimits } from "../services/settings.ts";
import type { Tables } from "../store/tables.ts";
import { leaseMs } from "./lease.ts";

/** A job that this process runs now. */
export interface ClaimedJob {
  /** The job as it is since the claim. */
  readonly job: JobRow;
  readonly leaseId: string;
  readonly leaseUntil: Date;
  /** Fence of the job's connection; 0 without one. */
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
export const claimLock = 7_236_401_182;

/**
 * Takes the job whose turn it is: of the workspace with the fewest running jobs, the oldest one
 * that no limit holds back. Its attempt begins: a lease of its own, and a fence above all earlier
 * ones. The database does it in one call (store/migrations/0007-job-queue.ts), and looks at the
 * running jobs and at groups of waiting ones: it takes no longer when more jobs wait.
 * @returns undefined when nothing can run now
 */
export async function claimJob(
  db: Kysely<Tables>,
  { worker, limits, exclusiveConnectors, now }: Claim,
): Promise<ClaimedJob | undefined> {
  const leaseId = randomUUID();
  const leaseUntil = new Date(now.getTime() + leaseMs);
  const { rows } = await sql<JobRow & { readonly claimed_fence: string }>`
    SELECT (claimed_job).*, claimed_fence FROM claim_job(
      ${now}::timestamptz, ${worker}::text, ${leaseId}::text, ${leaseUntil}::timestamptz,
      ${limits.perWorkspace}::int, ${limits.perCredential}::int, ${limits.perProvider}::int,
      ${limits.perDestination}::int, ${[...exclusiveConnectors]}::text[]
    )`.execute(db);
  const [claimed] = rows;
  if (!claimed) return undefined;
  await reachDisk(db);
  const { claimed_fence: fence, ...job } = claimed;
  return { job, leaseId, leaseUntil, fence: Number(fence) };
}

/**
 * The claim's transaction does not wait for the disk, so that the next one may follow at once. This
 * one does, for itself and whatever was committed before it: a fence that is in use is never given
 * out again, even when the server crashes.
 */
const reachDisk = (db: Kysely<Tables>) =>
  sql`SELECT pg_logical_emit_message(true, 'svc', '')`.execute(db);
