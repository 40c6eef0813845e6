import type { Selectable } from "kysely";
import { type Static, Type } from "typebox";
import { Id, Nullable, OneOf, StrictObject, Time } from "../contract/schemas.ts";
import { clients, type Tables } from "../store/tables.ts";

export const AuditLog = StrictObject(
  {
    audit_log_id: Id("audit"),
    workspace_id: Id("workspace"),
    occurred_at: Time,
    actor: StrictObject({
      type: OneOf(["user", "system"]),
      id: Nullable(Type.String()),
      display: Type.String(),
    }),
    client: OneOf(clients),
    action: Type.String({ description: "The operation's id, for instance source.delete." }),
    resource_type: Type.String(),
    resource_id: Nullable(Type.String()),
    outcome: OneOf(["success", "failure", "denied"]),
    summary: Type.String(),
    approval_id: Nullable(Type.String()),
    request_id: Type.String(),
    ip: Nullable(Type.String()),
    user_agent: Nullable(Type.String()),
  },
  { title: "AuditLog" },
);

export function toAuditLog(row: Selectable<Tables["audit_logs"]>): Static<typeof AuditLog> {
  return {
    audit_log_id: row.id,
    workspace_id: row.workspace_id,
    occurred_at: row.occurred_at.toISOString(),
    actor: { type: row.actor_type, id: row.actor_id, display: row.actor_display },
    client: row.client,
    action: row.action,
    resource_type: row.resource_type,
    resource_id: row.resource_id,
    outcome: row.outcome,
    summary: row.summary,
    approval_id: row.approval_id,
    request_id: row.request_id,
    ip: row.ip,
    user_agent: row.user_agent,
  };
}
