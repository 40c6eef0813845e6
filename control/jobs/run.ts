/**
 * Runs one claimed job: the runner of its kind, a lease that is kept meanwhile, progress and log,
 * and what becomes of it.
 */
import { ConnectorError, createSecretRegistry } from "svc-connectors/host";
import type { AttemptResult, JobAttempt, JobRow, JobRunner } from "../contract/job.ts";
import type { Services } from "../services/services.ts";
import { countAttempt, countJob, traceAttempt } from "../telemetry/attempts.ts";
import { type AttemptEnd, endAttempt } from "./attempts.ts";
import type { ClaimedJob } from "./claim.ts";
import { toConnectorError, toFailure } from "./failure.ts";
import { holdLease, type Stop } from "./lease.ts";
import { openJobLog } from "./logs.ts";
import { createProgress } from "./progress.ts";

/** The runner of each kind of job. */
export type JobRunners = Readonly<Record<JobRow["kind"], JobRunner>>;

/** Progress and log are written so often. */
const writeEveryMs = 1_000;
/**
 * How often the end of an attempt is written before it is left to whoever takes the job over, and
 * the time between.
 */
const endTries = 5;
const endPauseMs = 1_000;

/**
 * Runs the attempt to its end. Throws nothing: what cannot be written down is found again when the
 * lease is over.
 * @param stopping the process stops: the job goes back to the queue
 * @returns when the next attempt may begin; undefined: there is none, or somebody else has the job
 */
export async function runJob(
  services: Services,
  { job, leaseId, leaseUntil, fence }: ClaimedJob,
  runners: JobRunners,
  stopping: AbortSignal,
): Promise<Date | undefined> {
  const { clock, database } = services;
  const secrets = createSecretRegistry();
  const own = { jobId: job.id, attempt: job.attempt, leaseId };
  using lease = holdLease(services, { job, leaseId, leaseUntil });
  const stop = () => lease.end("stopping");
  if (stopping.aborted) stop();
  stopping.addEventListener("abort", stop, { once: true });
  try {
    const progress = createProgress(services, own);
    const jobLog = await openJobLog(services, own, secrets);
    const write = inTurn(async () => {
      await progress.flush();
      await jobLog.flush();
    });
    const timer = setInterval(() => void write().catch(() => undefined), writeEveryMs).unref();
    jobLog.log("info", "The attempt begins.", { attempt: job.attempt });
    const attempt: JobAttempt = {
      services,
      job,
      attempt: job.attempt,
      fence,
      secrets,
      signal: lease.signal,
      log: jobLog.log,
      progress,
    };
    const startedMs = clock.now();
    const result = await traceAttempt(attempt, () =>
      runners[job.kind](attempt).catch((error: unknown) => failed(error, services)),
    );
    clearInterval(timer);
    const end = toEnd(result, lease.stop, services);
    const ended = await persistently(services, async () => {
      if (end.status === "lost") return undefined;
      await write();
      const now = new Date(clock.now());
      return await database.db.transaction().execute(async (tx) => {
        const written = await endAttempt(tx, { id: job.id, leaseId }, end, now);
        if (!written) return undefined;
        const level = written.attempt.status === "failed" ? "error" : "info";
        jobLog.log(level, sentenceOf(written.attempt), { attempt: job.attempt });
        await jobLog.flush(tx);
        return written;
      });
    });
    countAttempt(services, job, ended?.attempt ?? { status: "lost" }, clock.now() - startedMs);
    if (ended) countJob(services, job, ended.job);
    return ended?.job.runnableAt;
  } catch {
    services.log.error("the end of a job could not be written; it is run again", {
      job_id: job.id,
    });
    return undefined;
  } finally {
    stopping.removeEventListener("abort", stop);
  }
}

/** A fault of svc itself: nothing of the error leaves. */
function failed(error: unknown, { clock, log }: Services): AttemptResult {
  const known = toConnectorError(error);
  if (known.code === "INTERNAL")
    log.error("a job failed inside svc", {
      error_name: error instanceof Error ? error.name : typeof error,
    });
  return {
    status: "failed",
    failure: toFailure(known.toRecord(), "platform", new Date(clock.now())),
  };
}

/**
 * A job that was stopped from outside ends for that reason, whatever its runner says; one that is
 * done is done all the same.
 */
function toEnd(result: AttemptResult, stop: Stop | undefined, services: Services): AttemptEnd {
  if (result.status === "succeeded") return result;
  if (stop === "lost") return { status: "lost" };
  if (stop === "stopping") return { status: "released" };
  if (stop === "cancelled") return { status: "cancelled" };
  return result.status === "cancelled" ? failed(new ConnectorError("INTERNAL"), services) : result;
}

function sentenceOf(end: AttemptEnd): string {
  if (end.status === "failed") return end.failure.message;
  if (end.status === "succeeded") return "The job succeeded.";
  return end.status === "cancelled"
    ? "The job was cancelled."
    : "The worker stops; the job goes on elsewhere.";
}

/** One after another: a slow write delays the next one and never runs beside it. */
function inTurn(work: () => Promise<void>): () => Promise<void> {
  let before: Promise<unknown> = Promise.resolve();
  return () => {
    const mine = before.then(work, work);
    before = mine.catch(() => undefined);
    return mine;
  };
}

async function persistently<T>({ clock }: Services, work: () => Promise<T>): Promise<T> {
  for (let round = 1; ; round += 1) {
    try {
      return await work();
    } catch (error) {
      if (round === endTries) throw error;
      await clock.sleep(endPauseMs);
    }
  }
}
