/**
 * Sessions of the console: what shows them is in a cookie that no script reads, and is no access
 * token.
 */
import { createConsoleToken } from "../contract/ids.ts";
import type { Caller } from "../contract/operation.ts";
import { actorOf, appendAudit } from "../door/audit.ts";
import { hashToken, unauthenticated } from "../door/authenticate.ts";
import type { Db } from "../store/database.ts";
import type { Scope } from "../store/tables.ts";
import { createSession, type NewSession, requireUnrevoked, revokeSession } from "./sessions.ts";

/** A working day, whatever the token that was shown is good for. */
export const consoleLifetimeMs = 43_200_000;

export interface ConsoleSession {
  /** For the cookie; it is stored nowhere. */
  readonly token: string;
  readonly sessionId: string;
  readonly userId: string;
}

const start = async (
  tx: Db,
  session: Omit<NewSession, "token" | "name">,
  now: Date,
): Promise<ConsoleSession> => {
  const { sessionId, token } = await createSession(
    tx,
    { lifetimeMs: consoleLifetimeMs, ...session, name: "Console", token: createConsoleToken() },
    now,
  );
  return { token, sessionId, userId: session.userId };
};

/**
 * Takes the code of a link. Of those who show it at the same time one gets a session.
 * @throws unauthenticated
 */
export async function startByLink(tx: Db, code: string, now: Date): Promise<ConsoleSession> {
  const link = await tx
    .updateTable("sessions")
    .set({ revoked_at: now })
    .where("token_hash", "=", hashToken(code))
    .where("revoked_at", "is", null)
    .where("expires_at", ">", now)
    .returning("user_id")
    .executeTakeFirst();
  if (!link) throw unauthenticated();
  return start(tx, { userId: link.user_id, client: "cli" }, now);
}

/**
 * For who shows an access token: it may do what the token may, in its workspace, and ends with it.
 * @throws unauthenticated
 */
export async function startByToken(
  tx: Db,
  { user, session }: Caller,
  now: Date,
): Promise<ConsoleSession> {
  await requireUnrevoked(tx, session.id);
  return start(
    tx,
    {
      userId: user.id,
      workspaceId: session.workspaceId ?? undefined,
      role: session.role ?? undefined,
      scopes: session.scopes as readonly Scope[],
      client: session.client,
      madeBySessionId: session.id,
      lifetimeMs: Math.min(consoleLifetimeMs, session.expiresAt.getTime() - now.getTime()),
    },
    now,
  );
}

/**
 * In place of the access token that an accepted invitation gives, which nobody has seen.
 * @throws unauthenticated
 */
export async function startInPlaceOf(
  tx: Db,
  { user, session }: Caller,
  now: Date,
): Promise<ConsoleSession> {
  await revokeSession(tx, session.id, now);
  return start(
    tx,
    {
      userId: user.id,
      workspaceId: session.workspaceId ?? undefined,
      role: session.role ?? undefined,
      scopes: session.scopes as readonly Scope[],
      client: "cli",
    },
    now,
  );
}

export interface SignIn {
  readonly caller: Caller;
  readonly requestId: string;
  readonly now: Date;
}

/** Writes down, in every workspace that the session reaches, that somebody came in or went. */
export async function auditConsole(
  tx: Db,
  action: "session.create" | "session.revoke",
  { caller, requestId, now }: SignIn,
): Promise<void> {
  // In one order: who writes to several chains waits for nobody who waits for them.
  for (const { workspaceId } of caller.memberships.toSorted((left, right) =>
    left.workspaceId < right.workspaceId ? -1 : 1,
  ))
    await appendAudit(tx, {
      workspace_id: workspaceId,
      occurred_at: now,
      ...actorOf(caller),
      action,
      resource_type: "session",
      resource_id: caller.session.id,
      request_id: requestId,
      outcome: "success",
      summary: action === "session.create" ? "Sign in to the console" : "Sign out of the console",
      approval_id: null,
    });
}
