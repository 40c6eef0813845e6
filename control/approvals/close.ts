/**
 * The ends of a proposal at which nothing was done: it is rejected, withdrawn, expires, or what it
 * was about is gone.
 */
import type { Transaction } from "kysely";
import { type AuditEntry, appendAudit, systemEntry } from "../door/audit.ts";
import type { Services } from "../services/services.ts";
import type { Db } from "../store/database.ts";
import type { Tables } from "../store/tables.ts";
import { type ApprovalRow, lockApproval } from "./rows.ts";

export interface Closing {
  readonly status: "rejected" | "cancelled" | "expired";
  /** Undefined: time, or the service. */
  readonly decidedBy?: string | undefined;
  readonly reason?: string | undefined;
}

/**
 * Closes a pending approval that the transaction holds locked. Its secrets are destroyed, what was
 * held back is dropped.
 */
export async function closeApproval(
  tx: Transaction<Tables>,
  services: Services,
  row: ApprovalRow,
  { status, decidedBy, reason }: Closing,
  now: Date,
): Promise<ApprovalRow> {
  await discard(tx, services, row, now);
  return await tx
    .updateTable("approvals")
    .set({
      status,
      decided_by: decidedBy ?? null,
      decided_at: decidedBy === undefined ? null : now,
      reason: reason ?? null,
    })
    .where("id", "=", row.id)
    .where("workspace_id", "=", row.workspace_id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Destroys what is kept for carrying it out. */
export async function discard(
  tx: Transaction<Tables>,
  services: Services,
  row: ApprovalRow,
  now: Date,
): Promise<void> {
  await services.vault.shred(tx, row.id);
  if (!row.is_held) return;
  const operation = services.operations.find(({ id }) => id === row.operation);
  if (operation?.effect === "write")
    await operation.hold?.discard(tx, services, row.body as never, now);
}

/** Closes what has waited for too long: of one workspace, or everywhere. */
export async function expireDue(services: Services, workspaceId?: string): Promise<void> {
  const now = new Date(services.clock.now());
  const due = await services.database.db
    .selectFrom("approvals")
    .select(["id", "workspace_id"])
    .where("status", "=", "pending")
    .where("expires_at", "<=", now)
    .$if(workspaceId !== undefined, (query) => query.where("workspace_id", "=", workspaceId ?? ""))
    .limit(1_000)
    .execute();
  for (const { id, workspace_id } of due)
    await closeBySystem(services, workspace_id, id, "expired", now);
}

/** Closes it, unless somebody else has, and says so in the audit log. */
export async function closeBySystem(
  services: Services,
  workspaceId: string,
  id: string,
  status: "expired" | "cancelled",
  now: Date,
): Promise<void> {
  await services.database.db.transaction().execute(async (tx) => {
    const row = await lockApproval(tx, workspaceId, id);
    if (row.status !== "pending") return;
    await closeApproval(tx, services, row, { status }, now);
    const words = {
      expired: ["expire", "A proposal has expired"],
      cancelled: ["cancel", "What it was about is gone"],
    };
    const [verb = "", summary = ""] = words[status];
    await auditBySystem(tx, row, `approval.${verb}`, { outcome: "success", summary }, now);
  });
}

/** An entry about an approval that nobody's request has made. */
export async function auditBySystem(
  tx: Db,
  { id, workspace_id }: ApprovalRow,
  action: string,
  result: Pick<AuditEntry, "outcome" | "summary">,
  now: Date,
): Promise<void> {
  await appendAudit(
    tx,
    systemEntry(workspace_id, now, {
      action,
      resource_type: "approval",
      resource_id: id,
      approval_id: id,
      ...result,
    }),
  );
}
