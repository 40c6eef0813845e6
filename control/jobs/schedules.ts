import { ControlError, type Reason } from "../contract/reasons.ts";
import type { PipelineRow } from "../pipelines/rows.ts";
import { nextRunAfter } from "../pipelines/schedule.ts";
import type { Services } from "../services.ts";
import type { Db } from "../store/database.ts";
import { enqueueJob } from "./enqueue.ts";
import { newSyncJob } from "./sync-job.ts";

/** Pipelines that one look takes on; the rest comes with the next one. */
const atOnce = 200;

/**
 * Makes the jobs of the pipelines whose time has come. Any number of servers may do it at once: the
 * one that moves the time on makes the job. No job while one is under way, or while a connector is
 * disabled; the time moves on all the same.
 */
export async function enqueueDuePipelines({
  database: { db },
  clock,
  log,
}: Pick<Services, "database" | "clock" | "log">): Promise<void> {
  const now = new Date(clock.now());
  const due = await db
    .selectFrom("pipelines")
    .selectAll()
    .where("status", "=", "active")
    .where("next_run_at", "<=", now)
    .orderBy("next_run_at")
    .limit(atOnce)
    .execute();
  for (const pipeline of due) {
    try {
      await db.transaction().execute((tx) => enqueueDue(tx, pipeline, now));
    } catch {
      // One that cannot be looked after does not keep the others from their time.
      log.error("the schedule of a pipeline could not be looked after", {
        pipeline_id: pipeline.id,
      });
    }
  }
}

/** Why a time passes without a job. */
const leftOut: readonly Reason[] = ["sync_already_running", "connector_disabled", "not_found"];

async function enqueueDue(tx: Db, pipeline: PipelineRow, now: Date): Promise<void> {
  const { next_run_at: dueAt } = pipeline;
  if (dueAt === null) return;
  const moved = await tx
    .updateTable("pipelines")
    .set({ next_run_at: nextRunAfter(pipeline.schedule, now, dueAt) })
    .where("id", "=", pipeline.id)
    .where("status", "=", "active")
    .where("next_run_at", "=", dueAt)
    .executeTakeFirst();
  if (moved.numUpdatedRows === 0n) return;
  try {
    await enqueueJob(tx, await newSyncJob(tx, pipeline, { trigger: "schedule" }), now);
  } catch (error) {
    if (!(error instanceof ControlError) || !leftOut.includes(error.reason)) throw error;
  }
}
