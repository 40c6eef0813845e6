import { createSession } from "../sessions.ts";
import type { Client, Role } from "../store/tables.ts";
import type { AdminContext } from "./actions.ts";
import { AdminError } from "./admin-error.ts";
import { auditOperator } from "./audit.ts";
import { findAdministrator, findWorkspace } from "./workspaces.ts";

const dayMs = 86_400_000;

export interface NewToken {
  /** The most that the token may do. */
  readonly role: Role;
  readonly client: Client;
  /** Id or slug; without one the token is good for every workspace of its user. */
  readonly workspace?: string | undefined;
  /** E-mail address; default: the longest-serving administrator. */
  readonly user?: string | undefined;
  readonly name?: string | undefined;
  /** Lifetime; default by client. */
  readonly days?: number | undefined;
}

/** Makes a session. Its token is in the result and nowhere else. */
export async function createToken(
  { services: { database, clock } }: AdminContext,
  input: NewToken,
) {
  const { db } = database;
  const now = new Date(clock.now());
  const workspace =
    input.workspace === undefined ? undefined : await findWorkspace(db, input.workspace);
  const user =
    input.user === undefined
      ? await findAdministrator(db, workspace?.id)
      : await findUser(input.user);
  const memberships = await db
    .selectFrom("memberships")
    .select(["workspace_id"])
    .where("user_id", "=", user.id)
    .where("status", "=", "active")
    .$if(workspace !== undefined, (query) => query.where("workspace_id", "=", workspace?.id ?? ""))
    .execute();
  if (memberships.length === 0) throw new AdminError("this person is no member there");
  const session = {
    userId: user.id,
    role: input.role,
    client: input.client,
    ...(workspace ? { workspaceId: workspace.id } : {}),
    ...(input.name === undefined ? {} : { name: input.name }),
    ...(input.days === undefined ? {} : { lifetimeMs: input.days * dayMs }),
  };
  return db.transaction().execute(async (tx) => {
    const { sessionId, token, expiresAt } = await createSession(tx, session, now);
    for (const { workspace_id } of memberships) await audit(tx, workspace_id, sessionId);
    return { session_id: sessionId, token, user: user.email, expires_at: expiresAt.toISOString() };
  });

  async function findUser(email: string) {
    const found = await db
      .selectFrom("users")
      .select(["id", "email"])
      .where("email", "=", email.toLowerCase())
      .executeTakeFirst();
    if (!found) throw new AdminError("there is nobody of that e-mail address");
    return found;
  }

  function audit(tx: Parameters<typeof auditOperator>[0], workspaceId: string, sessionId: string) {
    const entry = {
      action: "session.create",
      type: "session",
      id: sessionId,
      summary: "Create an access token",
    };
    return auditOperator(tx, workspaceId, now, entry);
  }
}

/** Every session, newest first. Tokens are not stored, so none is shown. */
export async function listTokens(
  { services: { database, clock } }: AdminContext,
  _input: Readonly<Record<never, never>>,
) {
  const now = new Date(clock.now());
  const rows = await database.db
    .selectFrom("sessions")
    .innerJoin("users", "users.id", "sessions.user_id")
    .leftJoin("workspaces", "workspaces.id", "sessions.workspace_id")
    .select([
      "sessions.id",
      "sessions.name",
      "sessions.role",
      "sessions.client",
      "sessions.expires_at",
    ])
    .select(["sessions.revoked_at", "users.email", "workspaces.slug"])
    .orderBy("sessions.created_at", "desc")
    .orderBy("sessions.id", "desc")
    .execute();
  return {
    sessions: rows.map(({ id, name, role, client, expires_at, revoked_at, email, slug }) => ({
      session_id: id,
      user: email,
      role: role ?? "as its user",
      workspace: slug ?? "all of its user",
      client,
      name: name ?? "",
      status: revoked_at ? "revoked" : expires_at <= now ? "expired" : "active",
      expires_at: expires_at.toISOString(),
    })),
  };
}

/** Ends a session at once, on every server. Doing it twice is no fault. */
export async function revokeToken(
  { services: { database, clock } }: AdminContext,
  { sessionId }: { readonly sessionId: string },
): Promise<{ readonly session_id: string; readonly changed: boolean }> {
  const now = new Date(clock.now());
  return database.db.transaction().execute(async (tx) => {
    const session = await tx
      .selectFrom("sessions")
      .select(["user_id", "workspace_id", "revoked_at"])
      .where("id", "=", sessionId)
      .forUpdate()
      .executeTakeFirst();
    if (!session) throw new AdminError("there is no session of that id; svc token list shows them");
    if (session.revoked_at) return { session_id: sessionId, changed: false };
    await tx.updateTable("sessions").set({ revoked_at: now }).where("id", "=", sessionId).execute();
    const workspaces = session.workspace_id
      ? [session.workspace_id]
      : (
          await tx
            .selectFrom("memberships")
            .select("workspace_id")
            .where("user_id", "=", session.user_id)
            .execute()
        ).map(({ workspace_id }) => workspace_id);
    const entry = {
      action: "session.revoke",
      type: "session",
      id: sessionId,
      summary: "Revoke a session",
    };
    for (const workspaceId of workspaces) await auditOperator(tx, workspaceId, now, entry);
    return { session_id: sessionId, changed: true };
  });
}
