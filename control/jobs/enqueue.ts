import { createId } from "../contract/ids.ts";
import type { NewJob } from "../contract/job.ts";
import { ControlError } from "../contract/reasons.ts";
import type { Db } from "../store/database.ts";

/** Attempts of a job, the first included. */
const maxAttempts = 8;

/**
 * Makes a job, in the caller's transaction; afterwards `services.jobs.wake()` tells the workers.
 * @returns its id
 * @throws sync_already_running (a sync) or run_in_progress (an activation) naming the job that is
 * under way
 */
export async function enqueueJob(db: Db, job: NewJob, now: Date): Promise<string> {
  const id = createId("job");
  const inserted = await db
    .insertInto("jobs")
    .values({
      id,
      workspace_id: job.workspaceId,
      kind: job.kind,
      subject_id: job.subjectId,
      pipeline_id: job.pipelineId ?? null,
      connection_id: job.connectionId ?? null,
      job_type: job.jobType,
      status: "pending",
      trigger: job.trigger,
      options: JSON.stringify(job.options),
      limits: JSON.stringify(job.limits),
      max_attempts: maxAttempts,
      runnable_at: now,
      created_at: now,
      updated_at: now,
    })
    .onConflict((conflict) =>
      conflict
        .column("subject_id")
        .where("status", "not in", ["succeeded", "failed", "cancelled"])
        .doNothing(),
    )
    .executeTakeFirst();
  if (Number(inserted.numInsertedOrUpdatedRows) === 1) return id;
  const open = await findOpenJob(db, job.subjectId);
  throw new ControlError(job.kind === "sync" ? "sync_already_running" : "run_in_progress", {
    job_id: open?.id ?? null,
  });
}

/** The job of a pipeline or an activation that is under way. */
export const findOpenJob = (db: Db, subjectId: string) =>
  db
    .selectFrom("jobs")
    .selectAll()
    .where("subject_id", "=", subjectId)
    .where("status", "not in", ["succeeded", "failed", "cancelled"])
    .executeTakeFirst();
