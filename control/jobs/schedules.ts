import { ControlError, type Reason } from "../contract/reasons.ts";
import type { PipelineRow } from "../pipelines/rows.ts";
import { nextRunAfter } from "../pipelines/schedule.ts";
import type { Services } from "../services/services.ts";
import type { Db } from "../store/database.ts";
import { takeEachDue } from "./due.ts";
import { enqueueJob } from "./enqueue.ts";
import { newSyncJob } from "./sync-job.ts";

/**
 * Makes the jobs of the pipelines whose time has come. No job while one is under way, or while a
 * connector is disabled; the time moves on all the same.
 */
export function enqueueDuePipelines(
  services: Pick<Services, "database" | "clock" | "log">,
): Promise<void> {
  return takeEachDue(services, { table: "pipelines", subject: "pipeline", start: enqueueDue });
}

/** Why a time passes without a job. */
export const leftOut: readonly Reason[] = [
  "sync_already_running",
  "connector_disabled",
  "not_found",
];

async function enqueueDue(tx: Db, pipeline: PipelineRow, now: Date): Promise<void> {
  const { next_run_at: dueAt } = pipeline;
  if (dueAt === null) return;
  await tx
    .updateTable("pipelines")
    .set({ next_run_at: nextRunAfter(pipeline.schedule, now, dueAt) })
    .where("id", "=", pipeline.id)
    .execute();
  try {
    await enqueueJob(tx, await newSyncJob(tx, pipeline, { trigger: "schedule" }), now);
  } catch (error) {
    if (!(error instanceof ControlError) || !leftOut.includes(error.reason)) throw error;
  }
}
