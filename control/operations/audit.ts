import { Type } from "typebox";
import { readRange } from "../audit/range.ts";
import { AuditLog, toAuditLog } from "../audit/schemas.ts";
import { defineRead } from "../contract/operation.ts";
import { datedListQuery, IdInput, List, OneOf, StrictObject, Time } from "../contract/schemas.ts";
import { readPage } from "../door/pages.ts";
import { clients } from "../store/tables.ts";

export const listAuditLogs = defineRead({
  id: "audit_log.list",
  area: "Audit",
  path: "/audit-logs",
  summary: "List the audit log",
  description: "At most 90 days at a time, the latest 30 by default.",
  permission: "admin",
  query: StrictObject({
    ...datedListQuery,
    actor_id: Type.Optional(IdInput("Only what this person did.")),
    client: Type.Optional(OneOf(clients)),
    resource_type: Type.Optional(IdInput("For instance source.")),
    resource_id: Type.Optional(IdInput("Only what was done to this.")),
    action: Type.Optional(IdInput("For instance source.delete.")),
    outcome: Type.Optional(OneOf(["success", "failure", "denied"])),
    from: Type.Optional(Time),
    to: Type.Optional(Time),
  }),
  data: List(AuditLog),
  errors: ["invalid_cursor", "invalid_query"],
  async run(
    { db, workspaceId, now },
    { query: { limit = 50, cursor, sort, workspace_id: _, from, to, ...equals } },
  ) {
    const filters = { list: "audit-logs", workspaceId, from, to, ...equals };
    const range = readRange({ from, to }, now);
    let rows = db
      .selectFrom("audit_logs")
      .selectAll()
      .select("occurred_at as created_at")
      .where("workspace_id", "=", workspaceId)
      .where("occurred_at", ">=", range.from)
      .where("occurred_at", "<", range.to);
    for (const [column, value] of Object.entries(equals) as [keyof typeof equals, string][])
      rows = rows.where(column, "=", value);
    const entries = db.selectFrom(rows.as("entries")).selectAll();
    const page = await readPage(entries, { cursor, limit, filters, sort });
    return { ...page, items: page.items.map(toAuditLog) };
  },
});

export const auditOperations = [listAuditLogs];
