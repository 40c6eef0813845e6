import type { Selectable } from "kysely";
import { endRunOfJob } from "../reverse-etl/run-row.ts";
import type { Db } from "../store/database.ts";
import type { Tables } from "../store/tables.ts";
import { cancellation } from "./failure.ts";
import { isFinal, statusesBefore } from "./transitions.ts";

/**
 * The outcome of a cancellation: the job is over already, it ended at once, or its worker was
 * notified (within about two seconds).
 */
export type Cancelling = "ended" | "cancelled" | "requested";

/**
 * Cancels a job, in the caller's transaction. Asking twice is as good as once.
 * @param job a row of the job, or its id; it is looked at anew, under its lock
 */
export async function requestCancel(
  tx: Db,
  { id }: Pick<Selectable<Tables["jobs"]>, "id">,
  now: Date,
): Promise<Cancelling> {
  const job = await tx
    .selectFrom("jobs")
    .select(["status", "kind", "cancel_requested_at"])
    .where("id", "=", id)
    .forUpdate()
    .executeTakeFirst();
  if (!job || isFinal(job.status)) return "ended";
  if (job.status === "running") {
    const wish = { cancel_requested_at: job.cancel_requested_at ?? now, updated_at: now };
    await tx.updateTable("jobs").set(wish).where("id", "=", id).execute();
    return "requested";
  }
  await tx
    .updateTable("jobs")
    .set({
      status: "cancelled",
      cancel_requested_at: now,
      ended_at: now,
      updated_at: now,
      failure: JSON.stringify(cancellation(now)),
    })
    .where("id", "=", id)
    .where("status", "in", statusesBefore("cancelled"))
    .execute();
  if (job.kind === "reverse_etl") await endRunOfJob(tx, id, { status: "cancelled" }, now);
  return "cancelled";
}
