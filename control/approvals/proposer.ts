import type { Caller, Operation } from "../contract/operation.ts";
import { ControlError } from "../contract/reasons.ts";
import { authorizeIn, authorizeSomewhere } from "../door/authorize.ts";
import { lowerRole } from "../door/memberships.ts";
import type { Db } from "../store/database.ts";
import type { ApprovalRow } from "./rows.ts";

/**
 * Who proposed it, with what they may do now. Their session may have ended since: the proposal is
 * for days, the session for hours. What they may do is still at most what that session was for.
 * @throws requester_no_longer_permitted
 */
export async function findProposer(
  db: Db,
  row: ApprovalRow,
  operation: Operation,
): Promise<Caller> {
  const found = await db
    .selectFrom("sessions")
    .innerJoin("users", "users.id", "sessions.user_id")
    .innerJoin("memberships", "memberships.user_id", "users.id")
    .select(["users.id as user_id", "users.email", "users.name", "memberships.role as member_role"])
    .select([
      "sessions.id",
      "sessions.client",
      "sessions.scopes",
      "sessions.role",
      "sessions.expires_at",
    ])
    .select("sessions.workspace_id")
    .where("sessions.id", "=", row.session_id)
    .where("users.id", "=", row.requested_by)
    .where("memberships.workspace_id", "=", row.workspace_id)
    .where("memberships.status", "=", "active")
    .executeTakeFirst();
  if (!found || (found.workspace_id !== null && found.workspace_id !== row.workspace_id))
    throw notPermitted();
  const role = found.role ? lowerRole(found.member_role, found.role) : found.member_role;
  const caller: Caller = {
    kind: "user",
    user: { id: found.user_id, email: found.email, name: found.name },
    session: {
      id: found.id,
      client: found.client,
      scopes: found.scopes,
      expiresAt: found.expires_at,
      workspaceId: found.workspace_id,
      role: found.role,
    },
    memberships: [{ workspaceId: row.workspace_id, role }],
    client: row.source,
    ip: null,
    userAgent: null,
  };
  if (!isPermitted(operation, caller, row.workspace_id)) throw notPermitted();
  return caller;
}

/** @throws permission_denied */
export function requirePermission(operation: Operation, caller: Caller, workspaceId: string): void {
  authorizeSomewhere(operation, caller);
  authorizeIn(operation, caller, workspaceId);
}

export function isPermitted(operation: Operation, caller: Caller, workspaceId: string): boolean {
  try {
    requirePermission(operation, caller, workspaceId);
    return true;
  } catch {
    return false;
  }
}

const notPermitted = () => new ControlError("requester_no_longer_permitted");
