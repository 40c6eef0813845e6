import type { OperationContext } from "../contract/operation.ts";
import { ControlError } from "../contract/reasons.ts";
import { includesRole } from "../door/authorize.ts";
import type { Role } from "../store/tables.ts";

/** The caller's role in the workspace of the request. */
export function roleOf({ caller, workspaceId }: OperationContext): Role {
  const membership = caller.memberships.find((one) => one.workspaceId === workspaceId);
  if (!membership) throw new ControlError("not_found");
  return membership.role;
}

/** Nobody gives more than they have. @throws permission_denied */
export function requireGrantable(ctx: OperationContext, role: Role): void {
  if (!includesRole(roleOf(ctx), role)) throw new ControlError("permission_denied");
}

/**
 * Whether the caller sees and does what administrators do: by role and by what the token was made
 * for.
 */
export const isAdmin = (ctx: OperationContext): boolean =>
  roleOf(ctx) === "admin" && ctx.caller.session.scopes.includes("control:admin");
