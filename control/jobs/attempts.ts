/** How an attempt ends: its row, and what becomes of its job. */
import { ConnectorError } from "svc-connectors/host";
import type { AttemptResult, JobRow } from "../contract/job.ts";
import { endRunOfJob } from "../reverse-etl/run-row.ts";
import type { Services } from "../services/services.ts";
import type { Db } from "../store/database.ts";
import type { Failure } from "../store/tables.ts";
import { cancellation, toFailure } from "./failure.ts";
import { retryDelayMs } from "./retry.ts";
import { statusesBefore } from "./transitions.ts";

/** The end of an attempt, as its worker knows it. */
export type AttemptEnd =
  | AttemptResult
  | { readonly status: "released" }
  | { readonly status: "lost" };

/** The end of an attempt, and the next state of its job. */
export interface Ended {
  /** A cancellation that was accepted stands, however far the attempt has come. */
  readonly attempt: AttemptEnd;
  readonly job: NextStep;
}

/**
 * Writes how the running attempt of a job ended, and whether there will be another one.
 * @param leaseId whose attempt it is: when somebody else has taken the job over, nothing is written
 * @returns undefined: the job belongs to somebody else
 */
export async function endAttempt(
  tx: Db,
  { id, leaseId }: { readonly id: string; readonly leaseId: string },
  reported: AttemptEnd,
  now: Date,
): Promise<Ended | undefined> {
  const job = await tx
    .selectFrom("jobs")
    .selectAll()
    .where("id", "=", id)
    .where("lease_id", "=", leaseId)
    .where("status", "=", "running")
    .forUpdate()
    .executeTakeFirst();
  if (!job) return undefined;
  const isCancelled = reported.status === "succeeded" && job.cancel_requested_at !== null;
  const end: AttemptEnd = isCancelled ? { status: "cancelled" } : reported;
  const failure = failureOf(end, now);
  await tx
    .updateTable("job_attempts")
    .set({ status: end.status, ended_at: now, failure: failure ? JSON.stringify(failure) : null })
    .where("job_id", "=", id)
    .where("attempt", "=", job.attempt)
    .execute();
  // Nobody reads them any more.
  await tx
    .updateTable("job_streams")
    .set({ status: "incomplete" })
    .where("job_id", "=", id)
    .where("status", "=", "running")
    .execute();
  const next = await nextStep(tx, job, end, failure, now);
  await tx
    .updateTable("jobs")
    .set({
      status: next.status,
      failure: next.failure ? JSON.stringify(next.failure) : null,
      lease_id: null,
      lease_until: null,
      updated_at: now,
      ...(next.runnableAt ? { runnable_at: next.runnableAt } : { ended_at: now }),
    })
    .where("id", "=", id)
    .where("status", "in", statusesBefore(next.status))
    .execute();
  if (next.status === "succeeded" && end.status === "succeeded") await end.commit?.(tx);
  if (job.kind === "reverse_etl" && (next.status === "failed" || next.status === "cancelled"))
    await endRunOfJob(tx, id, { status: next.status, failure: next.failure }, now);
  return { attempt: end, job: next };
}

export interface NextStep {
  readonly status: "succeeded" | "cancelled" | "failed" | "incomplete";
  readonly failure?: Failure | undefined;
  /** When the next attempt may begin; undefined: the job has ended. */
  readonly runnableAt?: Date;
}

async function nextStep(
  tx: Db,
  job: JobRow,
  end: AttemptEnd,
  failure: Failure | undefined,
  now: Date,
): Promise<NextStep> {
  if (end.status === "succeeded") return { status: "succeeded" };
  // Whatever has stopped it: somebody did not want it any more.
  if (end.status === "cancelled" || job.cancel_requested_at)
    return { status: "cancelled", failure: cancellation(now) };
  if (end.status === "released" || !failure) return { status: "incomplete", runnableAt: now };
  const { attempt, max_attempts: maxAttempts } = job;
  const fruitless = await fruitlessAttempts(tx, job.id);
  const retryAfter =
    end.status === "failed" && end.retryAfterMs !== undefined
      ? { retryAfterMs: end.retryAfterMs }
      : {};
  const delayMs = retryDelayMs({ failure, attempt, fruitless, maxAttempts, ...retryAfter });
  if (delayMs === undefined) return { status: "failed", failure };
  // A worker that has died does not say that anything is wrong: the next one begins at once.
  return {
    status: "incomplete",
    failure,
    runnableAt: new Date(now.getTime() + (end.status === "lost" ? 0 : delayMs)),
  };
}

function failureOf(end: AttemptEnd, now: Date): Failure | undefined {
  if (end.status === "failed") return end.failure;
  if (end.status === "cancelled") return cancellation(now);
  if (end.status !== "lost") return undefined;
  return toFailure(new ConnectorError("WORKER_LOST").toRecord(), "platform", now);
}

/**
 * Attempts in a row, up to the last one, that have committed no row. Those that were asked to stop
 * say nothing.
 */
async function fruitlessAttempts(tx: Db, jobId: string): Promise<number> {
  const rows = await tx
    .selectFrom("job_attempts")
    .select(["records_committed", "status"])
    .where("job_id", "=", jobId)
    .orderBy("attempt", "desc")
    .execute();
  const attempts = rows.filter(({ status }) => status !== "released");
  const fruitful = attempts.findIndex(({ records_committed }) => Number(records_committed) > 0);
  return fruitful === -1 ? attempts.length : fruitful;
}

/** Jobs that one look takes over; the rest comes with the next one. */
const atOnce = 100;

/**
 * Takes the jobs of workers that have died from them: each is to be run again. Gives how many there
 * were.
 */
export async function takeOverLost({
  database: { db },
  clock,
}: Pick<Services, "database" | "clock">): Promise<number> {
  const now = new Date(clock.now());
  const lost = await db
    .selectFrom("jobs")
    .select(["id", "lease_id"])
    .where("status", "=", "running")
    .where("lease_until", "<=", now)
    .orderBy("lease_until")
    .limit(atOnce)
    .execute();
  for (const { id, lease_id: leaseId } of lost) {
    if (leaseId === null) continue;
    await db.transaction().execute(async (tx) => {
      // Again, under its lock: it may have come back, or another server may have been faster.
      const row = await tx
        .selectFrom("jobs")
        .select("lease_until")
        .where("id", "=", id)
        .where("lease_id", "=", leaseId)
        .forUpdate()
        .executeTakeFirst();
      if (row?.lease_until && row.lease_until <= now)
        await endAttempt(tx, { id, leaseId }, { status: "lost" }, now);
    });
  }
  return lost.length;
}

/**
 * On an embedded database nobody else runs anything: what seems to run has died with its process.
 */
export async function endJobLeases(db: Db, now: Date): Promise<void> {
  await db.updateTable("jobs").set({ lease_until: now }).where("status", "=", "running").execute();
}
