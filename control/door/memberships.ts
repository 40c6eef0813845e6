/**
 * Where a caller may act. Somebody with many workspaces brings the first few along; the others are
 * looked up when a request is about them, so that no request costs more for their number.
 */
import type { Caller, Membership } from "../contract/operation.ts";
import type { Db } from "../store/database.ts";
import { type Role, roles } from "../store/tables.ts";

/** Memberships that a caller brings along. Nearly all people have fewer. */
export const membershipsAtOnce = 20;

/** The user's memberships that the token may use. */
export function selectMemberships(db: Db, { user, session }: Pick<Caller, "user" | "session">) {
  const rows = db
    .selectFrom("memberships")
    .where("memberships.user_id", "=", user.id)
    .where("memberships.status", "=", "active");
  const { workspaceId } = session;
  return workspaceId === null ? rows : rows.where("memberships.workspace_id", "=", workspaceId);
}

interface Row {
  readonly workspace_id: string;
  readonly role: Role;
  readonly last_active_at: Date | null;
}

/** A membership, as far as a token with this role may use it. */
export const toMembership = (token: { readonly role: Role | null }, row: Row): Membership => ({
  workspaceId: row.workspace_id,
  role: token.role ? lowerRole(row.role, token.role) : row.role,
  lastActiveAt: row.last_active_at,
});

export const lowerRole = (left: Role, right: Role): Role =>
  roles.indexOf(left) < roles.indexOf(right) ? left : right;

/** The memberships in the given workspaces. */
export async function findMemberships(
  db: Db,
  caller: Pick<Caller, "user" | "session">,
  workspaceIds: readonly string[],
): Promise<readonly Membership[]> {
  const rows = await selectMemberships(db, caller)
    .select(["workspace_id", "role", "last_active_at"])
    .where("workspace_id", "in", workspaceIds)
    .execute();
  return rows.map((row) => toMembership(caller.session, row));
}

/** The caller with their memberships in the workspaces that a request is about. */
export async function bringMemberships(
  caller: Caller,
  workspaceIds: readonly unknown[],
): Promise<Caller> {
  const { memberships, findMemberships: find } = caller;
  const missing = workspaceIds.filter(
    (id): id is string =>
      typeof id === "string" && !memberships.some(({ workspaceId }) => workspaceId === id),
  );
  if (!find || missing.length === 0) return caller;
  return { ...caller, memberships: [...memberships, ...(await find(missing))] };
}
