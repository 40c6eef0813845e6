import { type Static, Type } from "typebox";
import { defineRead, defineWrite, type OperationContext } from "../contract/operation.ts";
import { ControlError } from "../contract/reasons.ts";
import {
  datedListQuery,
  Id,
  IdInput,
  List,
  Name,
  Nullable,
  OneOf,
  StrictObject,
  Time,
  workspaceInput,
} from "../contract/schemas.ts";
import { readPage } from "../door/pages.ts";
import { isAdmin } from "../members/roles.ts";
import { Role } from "../members/schemas.ts";
import {
  createSession,
  requireUnrevoked,
  revokeSession as revokeWithMade,
  type SessionRow,
  selectSessions,
} from "../members/sessions.ts";
import type { Db } from "../store/database.ts";
import { clients, roles } from "../store/tables.ts";

const statuses = ["active", "expired", "revoked"] as const;

const Session = StrictObject(
  {
    session_id: Id("session"),
    user_id: Id("user"),
    workspace_id: Nullable(
      Id("workspace", "The only workspace of the session; null: every workspace of its user."),
    ),
    role: Nullable(Role),
    made_by_session_id: Nullable(
      Id("session", "With whose token it was made over the API. It is revoked with that session."),
    ),
    client: OneOf(clients),
    name: Nullable(Type.String()),
    user_agent: Nullable(Type.String()),
    ip: Nullable(Type.String()),
    status: OneOf(statuses),
    current: Type.Boolean({ description: "The session of this request." }),
    created_at: Time,
    last_seen_at: Time,
    expires_at: Time,
    revoked_at: Nullable(Time),
  },
  { title: "Session" },
);

function toSession(row: SessionRow, { caller, now }: OperationContext): Static<typeof Session> {
  const isOpen = row.expires_at > now;
  return {
    session_id: row.id,
    user_id: row.user_id,
    workspace_id: row.workspace_id,
    role: row.role,
    made_by_session_id: row.made_by_session_id,
    client: row.client,
    name: row.name,
    user_agent: row.user_agent,
    ip: row.ip,
    status: row.revoked_at ? "revoked" : isOpen ? "active" : "expired",
    current: row.id === caller.session.id,
    created_at: row.created_at.toISOString(),
    last_seen_at: row.last_seen_at.toISOString(),
    expires_at: row.expires_at.toISOString(),
    revoked_at: row.revoked_at?.toISOString() ?? null,
  };
}

/** Administrators see the workspace's sessions, others their own. */
const selectVisible = (db: Db, ctx: OperationContext) =>
  selectSessions(db, ctx.workspaceId).$if(!isAdmin(ctx), (rows) =>
    rows.where("user_id", "=", ctx.caller.user.id),
  );

export const listSessions = defineRead({
  id: "session.list",
  area: "Sessions",
  path: "/sessions",
  summary: "List sessions",
  description: "Administrators see those of the workspace, others their own.",
  permission: "read",
  query: StrictObject({
    ...datedListQuery,
    user_id: Type.Optional(IdInput("Only sessions of this person.")),
    client: Type.Optional(OneOf(clients)),
    status: Type.Optional(OneOf(statuses)),
  }),
  data: List(Session),
  errors: ["invalid_cursor"],
  async run(ctx, { query: { limit = 50, cursor, sort, user_id: userId, client, status } }) {
    const { db, workspaceId, now } = ctx;
    const filters = { list: "sessions", workspaceId, userId, client, status };
    let rows = selectVisible(db, ctx);
    if (userId !== undefined) rows = rows.where("user_id", "=", userId);
    if (client) rows = rows.where("client", "=", client);
    if (status) rows = rows.where("revoked_at", status === "revoked" ? "is not" : "is", null);
    if (status === "active") rows = rows.where("expires_at", ">", now);
    if (status === "expired") rows = rows.where("expires_at", "<=", now);
    const page = await readPage(rows, { cursor, limit, filters, sort });
    return { ...page, items: page.items.map((row) => toSession(row, ctx)) };
  },
});

const dayMs = 86_400_000;

const CreateSession = StrictObject({
  ...workspaceInput,
  name: Name,
  role: OneOf(roles, { description: "The most that the token may do; never more than yours." }),
  client: Type.Optional(
    OneOf(clients, {
      default: "api",
      description: "Who will use it: a program, a person at a terminal, or an agent.",
    }),
  ),
  expires_in_days: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 365,
      description: "Default: 90 for programs, half a day for people and agents.",
    }),
  ),
});

export const createAccessToken = defineWrite({
  id: "session.create",
  area: "Sessions",
  method: "POST",
  path: "/sessions",
  summary: "Create an access token",
  description:
    "A session of yours, in this workspace alone, with at most your own rights. It may outlive the session that makes it, and is revoked with it. Its token is in this answer and nowhere else: a request that is repeated with its Idempotency-Key, and an approval, give null in its place. Agents make none.",
  permission: "admin",
  status: 201,
  resource: "session",
  body: CreateSession,
  data: StrictObject({
    ...Session.properties,
    token: Nullable(Type.String({ description: "The access token. It is not shown again." })),
  }),
  shownOnce: ["token"],
  errors: [],
  async guard({ caller }) {
    if (caller.client === "mcp") throw new ControlError("permission_denied");
  },
  async commit(tx, ctx, { body: { name, role, client = "api", expires_in_days: days } }) {
    const { workspaceId, caller, now } = ctx;
    await requireUnrevoked(tx, caller.session.id);
    const { sessionId, token } = await createSession(
      tx,
      {
        userId: caller.user.id,
        workspaceId,
        role,
        client,
        name,
        scopes: caller.session.scopes,
        madeBySessionId: caller.session.id,
        lifetimeMs: days && days * dayMs,
      },
      now,
    );
    const row = await findSession(tx, ctx, sessionId);
    return { data: { ...toSession(row, ctx), token }, resourceId: sessionId };
  },
});

async function findSession(db: Db, ctx: OperationContext, id: string): Promise<SessionRow> {
  const row = await selectVisible(db, ctx).where("id", "=", id).executeTakeFirst();
  if (!row) throw new ControlError("not_found", { resource: "session" });
  return row;
}

export const revokeSession = defineWrite({
  id: "session.revoke",
  area: "Sessions",
  method: "POST",
  path: "/sessions/{session_id}/revoke",
  summary: "Revoke a session",
  description:
    "Its token ends at once, on every server, and so do all that were made with it. One that was revoked before stays so.",
  permission: "read",
  status: 200,
  resource: "session",
  params: StrictObject({ session_id: IdInput("The session.") }),
  query: StrictObject(workspaceInput),
  data: StrictObject({
    session_id: Id("session"),
    status: OneOf(["revoked"]),
    revoked_at: Time,
    made_with_it: Type.Array(Id("session"), {
      description: "Other sessions that end by this: those that were made with its token.",
    }),
  }),
  errors: ["not_found"],
  async guard(ctx, { params }) {
    await findSession(ctx.db, ctx, params.session_id);
  },
  async commit(tx, ctx, { params }) {
    const { id } = await findSession(tx, ctx, params.session_id);
    const revoked = await revokeWithMade(tx, id, ctx.now);
    const { revoked_at } = await findSession(tx, ctx, params.session_id);
    return {
      data: {
        session_id: id,
        status: "revoked" as const,
        revoked_at: (revoked_at ?? ctx.now).toISOString(),
        made_with_it: revoked.filter((one) => one !== id),
      },
      resourceId: id,
    };
  },
});

export const sessionOperations = [listSessions, createAccessToken, revokeSession];
