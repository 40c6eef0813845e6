import type { Db } from "../store/database.ts";
import { statusesBefore } from "./transitions.ts";

/** Whether a job could begin now, limits apart. */
export async function hasRunnable(db: Db, now: Date): Promise<boolean> {
  const row = await db
    .selectFrom("jobs")
    .select("id")
    .where("status", "in", statusesBefore("running"))
    .where("runnable_at", "<=", now)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * Jobs that nobody has taken since they were made wait for a worker, or for a limit: people see
 * them as queued.
 */
export async function queueWaiting(db: Db, now: Date): Promise<void> {
  await db
    .updateTable("jobs")
    .set({ status: "queued", updated_at: now })
    .where("status", "=", "pending")
    .where("runnable_at", "<=", now)
    .execute();
}
