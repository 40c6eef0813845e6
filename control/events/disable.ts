/** svc itself disables an endpoint that takes nothing, and says so. */
import { appendAudit, systemEntry } from "../door/audit.ts";
import type { Db } from "../store/database.ts";
import type { DisabledReason } from "../store/tables.ts";
import { noteFact } from "./facts.ts";

/** Whether the endpoint has taken anything after that time. */
export async function hasTakenSince(db: Db, endpointId: string, since: Date): Promise<boolean> {
  const taken = await db
    .selectFrom("event_deliveries")
    .select("id")
    .where("endpoint_id", "=", endpointId)
    .where("status", "=", "succeeded")
    .where("ended_at", ">=", since)
    .limit(1)
    .executeTakeFirst();
  return taken !== undefined;
}

/** Disables it, with a notice and an audit entry, unless it is disabled already. */
export async function disableEndpoint(
  tx: Db,
  { workspaceId, id }: { readonly workspaceId: string; readonly id: string },
  reason: DisabledReason,
  now: Date,
): Promise<void> {
  const disabled = await tx
    .updateTable("webhook_endpoints")
    .set((eb) => ({
      status: "disabled" as const,
      disabled_reason: reason,
      updated_at: now,
      version: eb("version", "+", 1),
    }))
    .where("workspace_id", "=", workspaceId)
    .where("id", "=", id)
    .where("status", "=", "enabled")
    .executeTakeFirst();
  if (disabled.numUpdatedRows === 0n) return;
  await cancelPending(tx, id, now);
  await noteFact(tx, {
    workspaceId,
    type: "webhook_endpoint.disabled",
    subjectId: id,
    facts: {},
    at: now,
  });
  await appendAudit(
    tx,
    systemEntry(workspaceId, now, {
      action: "webhook_endpoint.disable",
      resource_type: "webhook_endpoint",
      resource_id: id,
      outcome: "success",
      summary: `Disable a webhook endpoint: ${reason}`,
    }),
  );
}

/** Cancels deliveries that wait for a disabled endpoint; they can be asked for again. */
export const cancelPending = (tx: Db, endpointId: string, now: Date) =>
  tx
    .updateTable("event_deliveries")
    .set({ status: "cancelled", next_attempt_at: null, ended_at: now })
    .where("endpoint_id", "=", endpointId)
    .where("status", "=", "pending")
    .execute();
