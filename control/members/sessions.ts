import type { Selectable } from "kysely";
import { createAccessToken, createId } from "../contract/ids.ts";
import { hashToken, unauthenticated } from "../door/authenticate.ts";
import type { Db } from "../store/database.ts";
import { type Client, type Role, type Scope, scopes, type Tables } from "../store/tables.ts";

/** The most that a session of each role may do. */
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
  readonly workspaceId?: string | undefined;
  /** Default: as much as the user. */
  readonly role?: Role | undefined;
  /** Its scopes at most; default: all of the role. */
  readonly scopes?: readonly Scope[] | undefined;
  readonly client: Client;
  readonly name?: string | undefined;
  /** The session with whose token it is made; it is revoked with that one. */
  readonly madeBySessionId?: string | undefined;
  /** Default by client. */
  readonly lifetimeMs?: number | undefined;
  /** The token that shows that a request is of the session. Default: a new access token. */
  readonly token?: string | undefined;
}

const scopesOf = ({ role = "admin", scopes: allowed = scopes }: NewSession) =>
  scopesOfRole[role].filter((scope) => allowed.includes(scope));

/** Makes a session. Its token is given here once and is not stored. */
export async function createSession(
  db: Db,
  session: NewSession,
  now: Date,
): Promise<{ readonly sessionId: string; readonly token: string; readonly expiresAt: Date }> {
  const { token = createAccessToken() } = session;
  const sessionId = createId("session");
  const expiresAt = new Date(now.getTime() + (session.lifetimeMs ?? lifetimeMs[session.client]));
  await db
    .insertInto("sessions")
    .values({
      id: sessionId,
      user_id: session.userId,
      workspace_id: session.workspaceId ?? null,
      role: session.role ?? null,
      made_by_session_id: session.madeBySessionId ?? null,
      client: session.client,
      scopes: JSON.stringify(scopesOf(session)),
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

/** A session without the hash of its token. */
export type SessionRow = Omit<Selectable<Tables["sessions"]>, "token_hash">;

/**
 * Sessions that can act in the workspace: those made for it, and its members' sessions that are
 * made for no workspace alone.
 */
export const selectSessions = (db: Db, workspaceId: string) =>
  db
    .selectFrom("sessions")
    .select([
      "id",
      "user_id",
      "workspace_id",
      "role",
      "made_by_session_id",
      "client",
      "scopes",
      "name",
      "user_agent",
      "ip",
    ])
    .select(["created_at", "last_seen_at", "expires_at", "revoked_at"])
    .where((eb) =>
      eb.or([
        eb("workspace_id", "=", workspaceId),
        eb("workspace_id", "is", null).and(
          "user_id",
          "in",
          eb
            .selectFrom("memberships")
            .select("memberships.user_id")
            .where("memberships.workspace_id", "=", workspaceId)
            .where("memberships.status", "=", "active"),
        ),
      ]),
    );

/**
 * Waits for those who are revoking the session, so that it makes no other one behind their back.
 * @throws unauthenticated when it was revoked
 */
export async function requireUnrevoked(tx: Db, id: string): Promise<void> {
  const found = await tx
    .selectFrom("sessions")
    .select("revoked_at")
    .where("id", "=", id)
    .forShare()
    .executeTakeFirst();
  if (!found || found.revoked_at) throw unauthenticated();
}

/**
 * Ends a session and all that were made with its token, and with theirs: whoever had the token may
 * have made them. Gives the ids of those that end now.
 */
export async function revokeSession(tx: Db, id: string, now: Date): Promise<readonly string[]> {
  const ended: string[] = [];
  const revoke = async (column: "id" | "made_by_session_id", ids: readonly string[]) => {
    const rows = await tx
      .updateTable("sessions")
      .set({ revoked_at: now })
      .where(column, "in", ids)
      .where("revoked_at", "is", null)
      .returning("id")
      .execute();
    return rows.map((row) => row.id);
  };
  ended.push(...(await revoke("id", [id])));
  // A statement for each generation: one that a session has made meanwhile is seen by the next.
  // Sessions that one has made which was left before go too.
  for (let found: readonly string[] = [id]; found.length > 0; ) {
    found = await revoke("made_by_session_id", found);
    ended.push(...found);
  }
  return ended;
}

/** Ends a session that its own person leaves: what they have made with it stays. */
export const leaveSession = (tx: Db, id: string, now: Date): Promise<unknown> =>
  tx
    .updateTable("sessions")
    .set({ revoked_at: now })
    .where("id", "=", id)
    .where("revoked_at", "is", null)
    .execute();

/**
 * Ends the sessions that a person who has left a workspace can use in no other: those made for it,
 * and all when it was their last one. Others stay, and do not reach the workspace any more. Gives
 * how many were still open.
 */
export async function revokeSessionsOf(
  db: Db,
  { userId, workspaceId }: { readonly userId: string; readonly workspaceId: string },
  now: Date,
): Promise<number> {
  const elsewhere = await db
    .selectFrom("memberships")
    .select("id")
    .where("user_id", "=", userId)
    .executeTakeFirst();
  const { numUpdatedRows } = await db
    .updateTable("sessions")
    .set({ revoked_at: now })
    .where("user_id", "=", userId)
    .where("revoked_at", "is", null)
    .where("expires_at", ">", now)
    .where((eb) =>
      elsewhere
        ? eb("workspace_id", "=", workspaceId)
        : eb.or([eb("workspace_id", "=", workspaceId), eb("workspace_id", "is", null)]),
    )
    .executeTakeFirstOrThrow();
  return Number(numUpdatedRows);
}
