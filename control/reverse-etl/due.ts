import { ControlError } from "../contract/reasons.ts";
import { takeEachDue } from "../jobs/due.ts";
import { findOpenJob } from "../jobs/enqueue.ts";
import { nextRunAfter } from "../pipelines/schedule.ts";
import type { Services } from "../services/services.ts";
import type { Db } from "../store/database.ts";
import type { ActivationRow } from "./rows.ts";
import { skipRun, startRun } from "./start.ts";

/**
 * Starts the runs of the activations whose time has come. While a run is under way the time passes
 * with a run that is skipped; while a connector is disabled, with none.
 */
export function startDueRuns(
  services: Pick<Services, "database" | "clock" | "log">,
): Promise<void> {
  return takeEachDue(services, {
    table: "reverse_etl_activations",
    subject: "activation",
    start: startDue,
  });
}

async function startDue(tx: Db, activation: ActivationRow, now: Date): Promise<void> {
  const { next_run_at: dueAt, schedule } = activation;
  if (dueAt === null) return;
  await tx
    .updateTable("reverse_etl_activations")
    .set({ next_run_at: schedule && nextRunAfter(schedule, now, dueAt) })
    .where("id", "=", activation.id)
    .execute();
  if (await findOpenJob(tx, activation.id)) return await skipRun(tx, activation, now);
  try {
    await startRun(tx, activation, "schedule", {}, now);
  } catch (error) {
    // The time passes without a run.
    if (!(error instanceof ControlError) || error.reason !== "connector_disabled") throw error;
  }
}
