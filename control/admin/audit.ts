import { randomUUID } from "node:crypto";
import { appendAudit } from "../door/audit.ts";
import type { Db } from "../store/database.ts";

/**
 * Writes down, in the same transaction, what the operator did to a workspace from the command line.
 */
export function auditOperator(
  db: Db,
  workspaceId: string,
  now: Date,
  entry: {
    readonly action: string;
    readonly type: string;
    readonly id: string;
    readonly summary: string;
  },
): Promise<void> {
  return appendAudit(db, {
    workspace_id: workspaceId,
    occurred_at: now,
    actor_type: "system",
    actor_id: null,
    actor_display: "operator",
    client: "cli",
    action: entry.action,
    resource_type: entry.type,
    resource_id: entry.id,
    outcome: "success",
    summary: entry.summary,
    approval_id: null,
    request_id: randomUUID(),
    ip: null,
    user_agent: null,
  });
}
