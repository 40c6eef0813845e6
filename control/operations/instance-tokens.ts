/** Access tokens of an instance, of whatever workspace. Only its operator asks for these. */
import { Type } from "typebox";
import { defineOperatorRead, defineOperatorWrite } from "../contract/operation.ts";
import { ControlError } from "../contract/reasons.ts";
import { Id, IdInput, OneOf, StrictObject, Time } from "../contract/schemas.ts";
import { createSession, revokeSession } from "../members/sessions.ts";
import { createLink } from "../members/sign-in-link.ts";
import { findAdministrator, findWorkspace } from "../members/workspaces.ts";
import type { Db } from "../store/database.ts";
import { clients, roles } from "../store/tables.ts";

const dayMs = 86_400_000;

export const TokenBody = StrictObject({
  role: OneOf(roles, { description: "The most that the token may do." }),
  client: OneOf(clients),
  workspace: Type.Optional(
    Type.String({ description: "Id or slug; without one, every workspace of its user." }),
  ),
  user: Type.Optional(
    Type.String({ description: "E-mail address; default: the longest-serving administrator." }),
  ),
  name: Type.Optional(Type.String({ maxLength: 200 })),
  days: Type.Optional(Type.Integer({ minimum: 1, maximum: 3_650 })),
});

export const MadeToken = StrictObject({
  session_id: Id("session"),
  token: Type.String({ description: "Here and nowhere else." }),
  user: Type.String(),
  expires_at: Time,
});

export const createToken = defineOperatorWrite({
  id: "session.create",
  area: "Sessions",
  summary: "Create an access token",
  resource: "session",
  body: TokenBody,
  data: MadeToken,
  errors: ["not_found"],
  async commit(tx, { now }, { body: { role, client, name, days, ...named } }) {
    const workspaceId = named.workspace && (await findWorkspace(tx, named.workspace)).id;
    const user =
      named.user === undefined
        ? await findAdministrator(tx, workspaceId)
        : await findUser(tx, named.user);
    const memberships = await tx
      .selectFrom("memberships")
      .select("workspace_id")
      .where("user_id", "=", user.id)
      .where("status", "=", "active")
      .$if(workspaceId !== undefined, (query) =>
        query.where("workspace_id", "=", workspaceId ?? ""),
      )
      .execute();
    if (memberships.length === 0) throw new ControlError("not_found", { resource: "member" });
    const { sessionId, token, expiresAt } = await createSession(
      tx,
      {
        userId: user.id,
        role,
        client,
        workspaceId,
        name,
        lifetimeMs: days && days * dayMs,
      },
      now,
    );
    return {
      data: {
        session_id: sessionId,
        token,
        user: user.email,
        expires_at: expiresAt.toISOString(),
      },
      resourceId: sessionId,
      workspaceIds: memberships.map(({ workspace_id }) => workspace_id),
    };
  },
});

/** @throws not_found */
async function findUser(db: Db, email: string) {
  const found = await db
    .selectFrom("users")
    .select(["id", "email"])
    .where("email", "=", email.toLowerCase())
    .executeTakeFirst();
  if (!found) throw new ControlError("not_found", { resource: "user" });
  return found;
}

export const Tokens = StrictObject({
  sessions: Type.Array(
    StrictObject({
      session_id: Type.String(),
      user: Type.String(),
      role: Type.String(),
      workspace: Type.String(),
      client: Type.String(),
      name: Type.String(),
      status: OneOf(["active", "expired", "revoked"]),
      expires_at: Time,
    }),
  ),
});

export const listTokens = defineOperatorRead({
  id: "session.list",
  area: "Sessions",
  summary: "List the access tokens",
  description: "The newest first. Tokens are not stored, so none is shown.",
  data: Tokens,
  errors: [],
  async run({ db, now }) {
    const rows = await db
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
        status: statusOf({ expires_at, revoked_at }, now),
        expires_at: expires_at.toISOString(),
      })),
    };
  },
});

const statusOf = (
  { expires_at, revoked_at }: { readonly expires_at: Date; readonly revoked_at: Date | null },
  now: Date,
) => {
  if (revoked_at) return "revoked" as const;
  return expires_at <= now ? ("expired" as const) : ("active" as const);
};

export const RevokedToken = StrictObject({
  session_id: Type.String(),
  changed: Type.Boolean({ description: "False: it was revoked before." }),
});

export const revokeToken = defineOperatorWrite({
  id: "session.revoke",
  area: "Sessions",
  summary: "Revoke a session",
  description:
    "Its token ends at once, on every server, in all of its workspaces, and so do all that were made with it.",
  resource: "session",
  params: StrictObject({ session_id: IdInput("The session.") }),
  data: RevokedToken,
  errors: ["not_found"],
  async commit(tx, { now }, { params: { session_id: id } }) {
    const session = await tx
      .selectFrom("sessions")
      .select(["user_id", "workspace_id", "revoked_at"])
      .where("id", "=", id)
      .forUpdate()
      .executeTakeFirst();
    if (!session) throw new ControlError("not_found", { resource: "session" });
    if (session.revoked_at) return { data: { session_id: id, changed: false }, resourceId: id };
    await revokeSession(tx, id, now);
    const memberships = await tx
      .selectFrom("memberships")
      .select("workspace_id")
      .where("user_id", "=", session.user_id)
      .execute();
    return {
      data: { session_id: id, changed: true },
      resourceId: id,
      workspaceIds: session.workspace_id
        ? [session.workspace_id]
        : memberships.map(({ workspace_id }) => workspace_id),
    };
  },
});

export const MadeLink = StrictObject({
  code: Type.String({ description: "Here and nowhere else. It is good once." }),
  user: Type.String(),
  expires_at: Time,
});

export const createSignInLink = defineOperatorWrite({
  id: "session.link",
  area: "Sessions",
  summary: "Create a link that signs in to the console",
  description: "As the longest-serving administrator, once, within a quarter of an hour.",
  resource: "session",
  data: MadeLink,
  errors: ["not_found"],
  async commit(tx, { now }) {
    const { id: userId, email } = await findAdministrator(tx);
    const { sessionId, code, expiresAt } = await createLink(tx, { userId }, now);
    const workspaceIds = await workspacesOf(tx, userId);
    return {
      data: { code, user: email, expires_at: expiresAt.toISOString() },
      resourceId: sessionId,
      workspaceIds,
    };
  },
});

const workspacesOf = async (db: Db, userId: string): Promise<readonly string[]> => {
  const rows = await db
    .selectFrom("memberships")
    .select("workspace_id")
    .where("user_id", "=", userId)
    .where("status", "=", "active")
    .execute();
  return rows.map(({ workspace_id }) => workspace_id);
};

export const instanceTokenOperations = [createToken, listTokens, revokeToken, createSignInLink];
