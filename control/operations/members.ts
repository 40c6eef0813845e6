import { sql } from "kysely";
import { Type } from "typebox";
import { defineRead, defineWrite } from "../contract/operation.ts";
import { ControlError } from "../contract/reasons.ts";
import { Id, IdInput, List, namedListQuery, OneOf, StrictObject } from "../contract/schemas.ts";
import { readPage } from "../door/pages.ts";
import { isAdmin, requireGrantable } from "../members/roles.ts";
import { findMember, lockMembers, requireOtherAdmin, selectPeople } from "../members/rows.ts";
import { Member, Role, toMember } from "../members/schemas.ts";
import { revokeSessionsOf } from "../members/sessions.ts";

const memberParams = StrictObject({
  workspace_id: IdInput("The workspace."),
  member_id: IdInput("The member."),
});

export const listMembers = defineRead({
  id: "member.list",
  area: "Members",
  path: "/workspaces/{workspace_id}/members",
  summary: "List members",
  description: "`include=invitations` adds those who are invited, for administrators.",
  permission: "read",
  params: StrictObject({ workspace_id: IdInput("The workspace.") }),
  query: StrictObject({
    ...namedListQuery,
    search: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description: "Part of the name or the address, in any case.",
      }),
    ),
    role: Type.Optional(Role),
    status: Type.Optional(OneOf(["active", "suspended", "invited"])),
    include: Type.Optional(OneOf(["invitations"])),
  }),
  data: List(Member),
  errors: ["invalid_cursor"],
  async run(ctx, { query: { limit = 50, cursor, search, sort, role, status, include } }) {
    const { db, workspaceId, now } = ctx;
    const withInvited = include === "invitations" || status === "invited";
    if (withInvited && !isAdmin(ctx)) throw new ControlError("permission_denied");
    const filters = { list: "members", workspaceId, search, role, status, withInvited };
    let rows = selectPeople(db, workspaceId, withInvited ? now : undefined);
    if (search !== undefined)
      rows = rows.where(
        sql<boolean>`position(lower(${search}) in lower(name || ' ' || email)) > 0`,
      );
    if (role) rows = rows.where("role", "=", role);
    if (status) rows = rows.where("status", "=", status);
    const page = await readPage(rows, { cursor, limit, filters, sort });
    return { ...page, items: page.items.map(toMember) };
  },
});

export const updateMember = defineWrite({
  id: "member.update",
  area: "Members",
  method: "PATCH",
  path: "/workspaces/{workspace_id}/members/{member_id}",
  summary: "Change a member's role",
  description: "It counts from their next request on.",
  permission: "admin",
  status: 200,
  resource: "member",
  params: memberParams,
  body: StrictObject({ role: Role }),
  data: Member,
  errors: ["not_found", "last_admin", "version_mismatch"],
  async guard(ctx, { params, body }) {
    const { db, workspaceId } = ctx;
    requireGrantable(ctx, body.role);
    const member = await findMember(db, workspaceId, params.member_id);
    ctx.expectVersion(member.version ?? 0);
    if (body.role !== "admin") await requireOtherAdmin(db, workspaceId, member);
  },
  async commit(tx, ctx, { params, body }) {
    const { workspaceId } = ctx;
    await lockMembers(tx, workspaceId);
    const member = await findMember(tx, workspaceId, params.member_id);
    ctx.expectVersion(member.version ?? 0);
    if (body.role !== "admin") await requireOtherAdmin(tx, workspaceId, member);
    await tx
      .updateTable("memberships")
      .set((eb) => ({ role: body.role, version: eb("version", "+", 1) }))
      .where("id", "=", member.id)
      .execute();
    return { data: toMember(await findMember(tx, workspaceId, member.id)), resourceId: member.id };
  },
});

export const removeMember = defineWrite({
  id: "member.remove",
  area: "Members",
  method: "DELETE",
  path: "/workspaces/{workspace_id}/members/{member_id}",
  summary: "Remove a member",
  description:
    "Their sessions in this workspace end. Credentials that they have stored stay: they are the workspace's.",
  permission: "admin",
  status: 200,
  resource: "member",
  params: memberParams,
  data: StrictObject({
    member_id: Id("member"),
    removed: Type.Boolean(),
    revoked_sessions: Type.Integer({ minimum: 0 }),
  }),
  errors: ["not_found", "last_admin", "version_mismatch"],
  async guard(ctx, { params }) {
    const { db, workspaceId } = ctx;
    const member = await findMember(db, workspaceId, params.member_id);
    ctx.expectVersion(member.version ?? 0);
    await requireOtherAdmin(db, workspaceId, member);
  },
  async commit(tx, ctx, { params }) {
    const { workspaceId, now } = ctx;
    await lockMembers(tx, workspaceId);
    const member = await findMember(tx, workspaceId, params.member_id);
    ctx.expectVersion(member.version ?? 0);
    await requireOtherAdmin(tx, workspaceId, member);
    await tx.deleteFrom("memberships").where("id", "=", member.id).execute();
    const revoked = await revokeSessionsOf(tx, { userId: member.user_id ?? "", workspaceId }, now);
    return {
      data: { member_id: member.id, removed: true, revoked_sessions: revoked },
      resourceId: member.id,
    };
  },
});

export const memberOperations = [listMembers, updateMember, removeMember];
