import { ControlError } from "../contract/reasons.ts";
import { findOpenJob } from "../jobs/enqueue.ts";
import { nextRunAfter } from "../pipelines/schedule.ts";
import type { Services } from "../services/services.ts";
import type { Db } from "../store/database.ts";
import type { ActivationRow } from "./rows.ts";
import { skipRun, startRun } from "./start.ts";

/** Activations that one look takes on; the rest comes with the next one. */
const atOnce = 200;

/**
 * Starts the runs of the activations whose time has come. Any number of servers may do it at once:
 * the one that moves the time on starts the run. While a run is under way the time passes with a
 * run that is skipped; while a connector is disabled, with none.
 */
export async function startDueRuns({
  database: { db },
  clock,
}: Pick<Services, "database" | "clock">): Promise<void> {
  const now = new Date(clock.now());
  const due = await db
    .selectFrom("reverse_etl_activations")
    .selectAll()
    .where("status", "=", "active")
    .where("next_run_at", "<=", now)
    .orderBy("next_run_at")
    .limit(atOnce)
    .execute();
  for (const activation of due)
    await db.transaction().execute((tx) => startDue(tx, activation, now));
}

async function startDue(tx: Db, activation: ActivationRow, now: Date): Promise<void> {
  const { next_run_at: dueAt, schedule } = activation;
  if (dueAt === null) return;
  const moved = await tx
    .updateTable("reverse_etl_activations")
    .set({ next_run_at: schedule && nextRunAfter(schedule, now, dueAt) })
    .where("id", "=", activation.id)
    .where("status", "=", "active")
    .where("next_run_at", "=", dueAt)
    .executeTakeFirst();
  if (moved.numUpdatedRows === 0n) return;
  if (await findOpenJob(tx, activation.id)) return await skipRun(tx, activation, now);
  try {
    await startRun(tx, activation, "schedule", {}, now);
  } catch (error) {
    // The time passes without a run.
    if (!(error instanceof ControlError) || error.reason !== "connector_disabled") throw error;
  }
}
