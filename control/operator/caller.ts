import type { Caller } from "../contract/operation.ts";
import { scopes } from "../store/tables.ts";

/**
 * Who runs the instance, at its machine: no user, and no token makes one. Nothing that comes over
 * HTTP or MCP ever has this caller.
 * @param workspaceId the one in which an operation of the API takes place; undefined: in none
 */
export const operatorCaller = (workspaceId?: string): Caller => ({
  kind: "operator",
  user: { id: "operator", email: "", name: "operator" },
  session: {
    id: "operator",
    client: "cli",
    scopes,
    expiresAt: new Date(0),
    workspaceId: null,
    role: null,
  },
  memberships: workspaceId === undefined ? [] : [{ workspaceId, role: "admin" }],
  client: "cli",
  ip: null,
  userAgent: null,
});
