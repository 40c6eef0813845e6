/** Who the caller is, and where they may act. */
import { sql } from "kysely";
import { Type } from "typebox";
import { defineRead } from "../contract/operation.ts";
import { Id, List, listQuery, Nullable, OneOf, StrictObject, Time } from "../contract/schemas.ts";
import { readCursor, toPage } from "../door/pages.ts";
import { clients, roles, scopes } from "../store/tables.ts";

const Role = OneOf(roles, {
  title: "Role",
  description: "The lower of the membership's role and the token's.",
});

export const getMe = defineRead({
  id: "me.get",
  area: "Current user",
  path: "/me",
  summary: "Get the current user",
  permission: "read",
  workspace: "none",
  data: StrictObject({
    user_id: Id("user"),
    email: Type.String(),
    name: Type.String(),
    default_workspace_id: Nullable(
      Id("workspace", "Where requests that name no workspace act; null: they must name one."),
    ),
    session: StrictObject({ session_id: Id("session"), client: OneOf(clients), expires_at: Time }),
    scopes: Type.Array(OneOf(scopes)),
    memberships: Type.Array(StrictObject({ workspace_id: Id("workspace"), role: Role })),
  }),
  errors: [],
  async run({ caller: { user, session, memberships } }) {
    const [only, ...others] = memberships;
    return {
      user_id: user.id,
      email: user.email,
      name: user.name,
      default_workspace_id: only && others.length === 0 ? only.workspaceId : null,
      session: {
        session_id: session.id,
        client: session.client,
        expires_at: session.expiresAt.toISOString(),
      },
      scopes: [...session.scopes],
      memberships: memberships.map(({ workspaceId, role }) => ({
        workspace_id: workspaceId,
        role,
      })),
    };
  },
});

const { limit, cursor } = listQuery;

export const listWorkspaces = defineRead({
  id: "workspace.list",
  area: "Workspaces",
  path: "/workspaces",
  summary: "List the workspaces of the current user",
  permission: "read",
  workspace: "none",
  query: StrictObject({
    limit,
    cursor,
    name: Type.Optional(
      Type.String({ minLength: 1, maxLength: 200, description: "Part of the name, in any case." }),
    ),
  }),
  data: List(
    StrictObject({
      workspace_id: Id("workspace"),
      name: Type.String(),
      slug: Type.String(),
      role: Role,
      created_at: Time,
      member_count: Type.Integer(),
    }),
  ),
  errors: ["invalid_cursor"],
  async run({ db, caller }, { query: { limit: size = 50, cursor: position, name } }) {
    const filters = { list: "workspaces", userId: caller.user.id, name };
    const after = readCursor(position, filters);
    const mine = new Map(caller.memberships.map(({ workspaceId, role }) => [workspaceId, role]));
    if (mine.size === 0) return { items: [], next_cursor: null, has_more: false };
    let rows = db
      .selectFrom("workspaces")
      .selectAll("workspaces")
      .select((eb) =>
        eb
          .selectFrom("memberships")
          .select(eb.fn.countAll<string>().as("count"))
          .whereRef("memberships.workspace_id", "=", "workspaces.id")
          .where("memberships.status", "=", "active")
          .as("member_count"),
      )
      .where("workspaces.id", "in", [...mine.keys()]);
    if (name !== undefined)
      rows = rows.where(sql<boolean>`position(lower(${name}) in lower(workspaces.name)) > 0`);
    if (after) {
      rows = rows.where((eb) =>
        eb(
          eb.refTuple("workspaces.created_at", "workspaces.id"),
          "<",
          eb.tuple(after.createdAt, after.id),
        ),
      );
    }
    const found = await rows
      .orderBy("workspaces.created_at", "desc")
      .orderBy("workspaces.id", "desc")
      .limit(size + 1)
      .execute();
    const page = toPage(found, size, filters);
    return {
      ...page,
      items: page.items.map((row) => ({
        workspace_id: row.id,
        name: row.name,
        slug: row.slug,
        role: mine.get(row.id) ?? "viewer",
        created_at: row.created_at.toISOString(),
        member_count: Number(row.member_count),
      })),
    };
  },
});

export const meOperations = [getMe, listWorkspaces];
