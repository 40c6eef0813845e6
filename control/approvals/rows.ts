import type { Selectable } from "kysely";
import type { Static } from "typebox";
import type { Approval } from "../contract/approval.ts";
import type { Category, OperationContext } from "../contract/operation.ts";
import { notFound } from "../contract/reasons.ts";
import type { Db } from "../store/database.ts";
import type { Tables } from "../store/tables.ts";
import type { SecretOwner } from "../vault/vault.ts";
import { isPermitted } from "./proposer.ts";

export type ApprovalRow = Selectable<Tables["approvals"]>;

/**
 * Approvals that the caller may read: their own, and those of everybody, save what only
 * administrators may ask for. A proposal to invite somebody tells as much as the list of
 * invitations does.
 */
export function selectVisible({ db, services, caller, workspaceId }: OperationContext) {
  const hidden = services.operations.filter(
    (one) => one.permission === "admin" && !isPermitted(one, caller, workspaceId),
  );
  const rows = db.selectFrom("approvals").selectAll().where("workspace_id", "=", workspaceId);
  if (hidden.length === 0) return rows;
  const ids = hidden.map(({ id }) => id);
  return rows.where((eb) =>
    eb.or([eb("operation", "not in", ids), eb("requested_by", "=", caller.user.id)]),
  );
}

/** @throws not_found */
export async function findApproval(db: Db, workspaceId: string, id: string): Promise<ApprovalRow> {
  const row = await selectApproval(db, workspaceId, id).executeTakeFirst();
  if (!row) throw notFound("approval", id);
  return row;
}

/** As {@link findApproval}, locked until the transaction ends. */
export async function lockApproval(db: Db, workspaceId: string, id: string): Promise<ApprovalRow> {
  const row = await selectApproval(db, workspaceId, id).forUpdate().executeTakeFirst();
  if (!row) throw notFound("approval", id);
  return row;
}

const selectApproval = (db: Db, workspaceId: string, id: string) =>
  db
    .selectFrom("approvals")
    .selectAll()
    .where("workspace_id", "=", workspaceId)
    .where("id", "=", id);

/** Where the secrets of a proposal are. */
export const sealOwner = ({
  id,
  workspace_id,
}: Pick<ApprovalRow, "id" | "workspace_id">): SecretOwner => ({
  workspaceId: workspace_id,
  ownerId: id,
  kind: "proposal",
});

export function toApproval(row: ApprovalRow): Static<typeof Approval> {
  return {
    approval_id: row.id,
    workspace_id: row.workspace_id,
    operation: row.operation,
    category: row.category as Category | null,
    status: row.status,
    source: row.source,
    proposal: {
      method: row.method,
      path: row.path,
      params: row.params,
      body_redacted: row.body,
      summary: row.summary,
    },
    payload_digest: row.payload_digest,
    resource: { type: row.resource_type, id: row.resource_id, version: row.resource_version },
    requested_by: { user_id: row.requested_by, session_id: row.session_id },
    reason: row.reason,
    created_at: row.created_at.toISOString(),
    expires_at: row.expires_at.toISOString(),
    decided_by: row.decided_by,
    decided_at: row.decided_at?.toISOString() ?? null,
    decision_comment: row.decision_comment,
    result: row.result,
    error: row.error,
  };
}
