import { createAccessToken, createId } from "./contract/ids.ts";
import { hashToken } from "./door/authenticate.ts";
import type { Db } from "./store/database.ts";
import { type Client, type Role, type Scope, scopes } from "./store/tables.ts";

/** What a session of each role may do at most. */
const scopesOfRole: Readonly<Record<Role, readonly Scope[]>> = {
  viewer: ["control:read"],
  runner: ["control:read", "control:write"],
  editor: ["control:read", "control:write"],
  admin: scopes,
};

const hourMs = 3_600_000;
/** Lifetime of a token: a working day for people and agents, 90 days for programs. */
export const lifetimeMs: Readonly<Record<Client, number>> = {
  cli: 12 * hourMs,
  mcp: 12 * hourMs,
  api: 90 * 24 * hourMs,
};

export interface NewSession {
  readonly userId: string;
  /** Default: every workspace of the user. */
  readonly workspaceId?: string;
  /** Default: as much as the user. */
  readonly role?: Role;
  readonly client: Client;
  readonly name?: string;
  /** Default by client. */
  readonly lifetimeMs?: number;
}

/** Makes a session. Its token is given here once and is not stored. */
export async function createSession(
  db: Db,
  session: NewSession,
  now: Date,
): Promise<{ readonly sessionId: string; readonly token: string; readonly expiresAt: Date }> {
  const token = createAccessToken();
  const sessionId = createId("session");
  const expiresAt = new Date(now.getTime() + (session.lifetimeMs ?? lifetimeMs[session.client]));
  await db
    .insertInto("sessions")
    .values({
      id: sessionId,
      user_id: session.userId,
      workspace_id: session.workspaceId ?? null,
      role: session.role ?? null,
      client: session.client,
      scopes: JSON.stringify(scopesOfRole[session.role ?? "admin"]),
      name: session.name ?? null,
      token_hash: hashToken(token),
      user_agent: null,
      ip: null,
      created_at: now,
      last_seen_at: now,
      expires_at: expiresAt,
      revoked_at: null,
    })
    .execute();
  return { sessionId, token, expiresAt };
}
