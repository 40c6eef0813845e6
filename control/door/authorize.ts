import { isId } from "../contract/ids.ts";
import {
  type Caller,
  type Operation,
  type OperationContext,
  permissions,
} from "../contract/operation.ts";
import { ControlError } from "../contract/reasons.ts";
import type { Db } from "../store/database.ts";
import { type Role, roles } from "../store/tables.ts";
import { basePath } from "./base-path.ts";
import { bringMemberships } from "./memberships.ts";

const denied = () => new ControlError("permission_denied");

/** Whether who has `role` may do all that `wanted` may. */
export const includesRole = (role: Role, wanted: Role): boolean =>
  roles.indexOf(role) >= roles.indexOf(wanted);

/**
 * Refuses who could do this nowhere, before anything of the request is looked at. Of somebody with
 * many workspaces that is not known then: {@link authorizeIn} refuses them.
 * @throws permission_denied
 */
export function authorizeSomewhere(operation: Operation, caller: Caller): void {
  if (operation.access === "open") return;
  if (operation.access === "operator") {
    if (caller.kind !== "operator") throw denied();
    return;
  }
  const { role, scope } = permissions[operation.permission];
  if (!caller.session.scopes.includes(scope)) throw denied();
  if (operation.workspace === "none" || caller.findMemberships) return;
  if (!caller.memberships.some((membership) => includesRole(membership.role, role))) throw denied();
}

/**
 * Refuses an agent what is for people, before its rights are looked at: it always learns where a
 * person can do it.
 * @throws agent_cannot_approve
 */
export function requirePerson(
  operation: Operation,
  { client }: Caller,
  params: Readonly<Record<string, string>>,
): void {
  if (operation.effect !== "write" || !operation.isForPeople || client !== "mcp") return;
  // A value that does not look like an id is not repeated.
  const path = operation.path.replace(/\{(\w+)\}/g, (place, name: string) =>
    isId(params[name] ?? "") ? (params[name] ?? "") : place,
  );
  const review = { method: operation.method, path: `${basePath}${path}` };
  throw new ControlError("agent_cannot_approve", { review });
}

/** @throws permission_denied */
export function authorizeIn(operation: Operation, caller: Caller, workspaceId: string): void {
  const { role } = permissions[operation.permission];
  const membership = caller.memberships.find((one) => one.workspaceId === workspaceId);
  if (!membership || !includesRole(membership.role, role)) throw denied();
}

/**
 * The workspace in which the operation takes place: the one that path, query or body name, else the
 * header's, else the token's only one. One that is not the caller's does not exist for them.
 * @throws workspace_required, not_found
 */
export function selectWorkspace(caller: Caller, named: readonly unknown[]): string {
  const ids = new Set(named.filter((id) => id !== undefined));
  if (ids.size > 1)
    throw new ControlError("workspace_required", { problem: "the request names two workspaces" });
  const [id] = ids;
  if (id === undefined) {
    const [only, ...more] = caller.memberships;
    if (only && more.length === 0) return only.workspaceId;
    throw new ControlError("workspace_required");
  }
  const membership = caller.memberships.find(({ workspaceId }) => workspaceId === id);
  if (!membership) throw new ControlError("not_found");
  return membership.workspaceId;
}

/** The workspace whose administrators are the instance's. @throws not_found */
export async function findAdministeringWorkspace(db: Db): Promise<string> {
  const id = await administeringWorkspace(db);
  if (id === undefined) throw new ControlError("not_found", { resource: "workspace" });
  return id;
}

const administeringWorkspace = async (db: Db): Promise<string | undefined> =>
  (
    await db
      .selectFrom("workspaces")
      .select("id")
      .where("administers_instance", "=", true)
      .executeTakeFirst()
  )?.id;

/** Whether who asks may change what is the instance's. */
export async function administersInstance({
  db,
  caller,
}: Pick<OperationContext, "db" | "caller">): Promise<boolean> {
  const { role: least, scope } = permissions.admin;
  if (!caller.session.scopes.includes(scope)) return false;
  const id = await administeringWorkspace(db);
  if (id === undefined) return false;
  const { memberships } = await bringMemberships(caller, [id]);
  return memberships.some(
    ({ workspaceId, role }) => workspaceId === id && includesRole(role, least),
  );
}
