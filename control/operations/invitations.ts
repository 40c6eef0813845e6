import { Type } from "typebox";
import { createId } from "../contract/ids.ts";
import { defineRead, defineWrite } from "../contract/operation.ts";
import { ControlError } from "../contract/reasons.ts";
import {
  datedListQuery,
  Id,
  IdInput,
  List,
  Name,
  OneOf,
  StrictObject,
  Text,
  Time,
} from "../contract/schemas.ts";
import { actorOf, appendAudit } from "../door/audit.ts";
import { hashToken } from "../door/authenticate.ts";
import { readPage } from "../door/pages.ts";
import {
  dayMs,
  deliver,
  newToken,
  openInvitation,
  refuseKnown,
  requirePending,
} from "../members/invitations.ts";
import { requireGrantable } from "../members/roles.ts";
import { findInvitation, lockMembers } from "../members/rows.ts";
import {
  Email,
  Invitation,
  invitationStatuses,
  MadeInvitation,
  Role,
  toInvitation,
} from "../members/schemas.ts";
import { createSession } from "../members/sessions.ts";
import { addMember, ensureUser } from "../members/workspaces.ts";

const workspaceParams = StrictObject({ workspace_id: IdInput("The workspace.") });
const invitationParams = StrictObject({
  workspace_id: IdInput("The workspace."),
  invitation_id: IdInput("The invitation."),
});

export const listInvitations = defineRead({
  id: "invitation.list",
  area: "Members",
  path: "/workspaces/{workspace_id}/members/invitations",
  summary: "List invitations",
  permission: "admin",
  params: workspaceParams,
  query: StrictObject({ ...datedListQuery, status: Type.Optional(OneOf(invitationStatuses)) }),
  data: List(Invitation),
  errors: ["invalid_cursor"],
  async run({ db, workspaceId, now }, { query: { limit = 50, cursor, sort, status } }) {
    const filters = { list: "invitations", workspaceId, status };
    let rows = db.selectFrom("invitations").selectAll().where("workspace_id", "=", workspaceId);
    if (status === "expired") {
      rows = rows.where((eb) =>
        eb.or([
          eb("status", "=", "expired"),
          eb("status", "=", "pending").and("expires_at", "<=", now),
        ]),
      );
    } else if (status) rows = rows.where("status", "=", status);
    if (status === "pending") rows = rows.where("expires_at", ">", now);
    const page = await readPage(rows, { cursor, limit, filters, sort });
    return { ...page, items: page.items.map((row) => toInvitation(row, now)) };
  },
});

export const createInvitation = defineWrite({
  id: "invitation.create",
  area: "Members",
  method: "POST",
  path: "/workspaces/{workspace_id}/members/invitations",
  summary: "Invite somebody",
  description:
    "Sends a mail with a link. The invitation is kept also when the mail fails (`delivery`): send it again then. An instance without a mail server gives the `link` to who invites.",
  permission: "admin",
  status: 201,
  resource: "invitation",
  isRepeatable: true,
  params: workspaceParams,
  body: StrictObject({
    email: Email,
    role: Role,
    expires_in_days: Type.Optional(Type.Integer({ minimum: 1, maximum: 30, default: 7 })),
    message: Type.Optional(Text(1_000)),
  }),
  data: MadeInvitation,
  shownOnce: ["link"],
  errors: ["already_member", "invitation_exists"],
  async guard(ctx, { body }) {
    requireGrantable(ctx, body.role);
    await refuseKnown(ctx.db, ctx.workspaceId, body.email.toLowerCase(), ctx.now);
  },
  prepare: async (ctx) => newToken(ctx),
  async commit(tx, { workspaceId, caller, now }, { body }, { token }) {
    const email = body.email.toLowerCase();
    const { role, expires_in_days: days = 7, message = null } = body;
    await lockMembers(tx, workspaceId);
    await refuseKnown(tx, workspaceId, email, now);
    await tx
      .updateTable("invitations")
      .set({ status: "expired" })
      .where("workspace_id", "=", workspaceId)
      .where("email", "=", email)
      .where("status", "=", "pending")
      .execute();
    const id = createId("invitation");
    const row = await tx
      .insertInto("invitations")
      .values({
        id,
        workspace_id: workspaceId,
        email,
        role,
        status: "pending",
        inviter_user_id: caller.user.id,
        message,
        token_hash: hashToken(token),
        delivery: "pending",
        lifetime_days: days,
        created_at: now,
        expires_at: new Date(now.getTime() + days * dayMs),
        ended_at: null,
      })
      .returningAll()
      .executeTakeFirstOrThrow();
    return { data: { ...toInvitation(row, now), link: null }, resourceId: id };
  },
  announce: async (ctx, _input, data, { token }) => ({
    ...data,
    ...(await deliver(ctx, data.invitation_id, token)),
  }),
});

export const resendInvitation = defineWrite({
  id: "invitation.resend",
  area: "Members",
  method: "POST",
  path: "/workspaces/{workspace_id}/members/invitations/{invitation_id}/resend",
  summary: "Send an invitation again",
  description: "With a new link, valid as long as the first one was; older links end.",
  permission: "admin",
  status: 200,
  resource: "invitation",
  isRepeatable: true,
  params: invitationParams,
  data: MadeInvitation,
  shownOnce: ["link"],
  errors: ["not_found", "invitation_not_pending", "invitation_expired"],
  async guard({ db, workspaceId, now }, { params }) {
    requirePending(await findInvitation(db, workspaceId, params.invitation_id), now);
  },
  prepare: async (ctx) => newToken(ctx),
  async commit(tx, { workspaceId, now }, { params }, { token }) {
    await lockMembers(tx, workspaceId);
    const {
      id,
      lifetime_days: days,
      ...rest
    } = await findInvitation(tx, workspaceId, params.invitation_id);
    requirePending({ id, lifetime_days: days, ...rest }, now);
    const row = await tx
      .updateTable("invitations")
      .set({
        token_hash: hashToken(token),
        delivery: "pending",
        expires_at: new Date(now.getTime() + days * dayMs),
      })
      .where("id", "=", id)
      .returningAll()
      .executeTakeFirstOrThrow();
    return { data: { ...toInvitation(row, now), link: null }, resourceId: id };
  },
  announce: async (ctx, _input, data, { token }) => ({
    ...data,
    ...(await deliver(ctx, data.invitation_id, token)),
  }),
});

export const revokeInvitation = defineWrite({
  id: "invitation.revoke",
  area: "Members",
  method: "POST",
  path: "/workspaces/{workspace_id}/members/invitations/{invitation_id}/revoke",
  summary: "Revoke an invitation",
  description: "Its link ends at once. One that was revoked before stays so.",
  permission: "admin",
  status: 200,
  resource: "invitation",
  params: invitationParams,
  data: Invitation,
  errors: ["not_found", "invitation_not_pending"],
  async guard({ db, workspaceId }, { params }) {
    const { status } = await findInvitation(db, workspaceId, params.invitation_id);
    if (status === "accepted") throw new ControlError("invitation_not_pending", { status });
  },
  async commit(tx, { workspaceId, now }, { params }) {
    await lockMembers(tx, workspaceId);
    const found = await findInvitation(tx, workspaceId, params.invitation_id);
    const { status } = found;
    if (status === "accepted") throw new ControlError("invitation_not_pending", { status });
    if (status === "revoked") return { data: toInvitation(found, now), resourceId: found.id };
    const row = await tx
      .updateTable("invitations")
      .set({ status: "revoked", ended_at: now })
      .where("id", "=", found.id)
      .returningAll()
      .executeTakeFirstOrThrow();
    return { data: toInvitation(row, now), resourceId: row.id };
  },
});

export const acceptInvitation = defineWrite({
  id: "invitation.accept",
  area: "Members",
  method: "POST",
  path: "/invitations/accept",
  summary: "Accept an invitation",
  description:
    "For who has the mail, without an access token. Gives, once, the token of a first session: in this workspace alone, with the invitation's role.",
  permission: "read",
  workspace: "none",
  access: "open",
  status: 200,
  resource: "invitation",
  secretFields: ["token"],
  body: StrictObject({
    token: Type.String({
      minLength: 1,
      maxLength: 200,
      description: "What stands in the mail, behind the link's #.",
    }),
    name: Type.Optional(Name),
  }),
  data: StrictObject({
    workspace_id: Id("workspace"),
    member_id: Id("member"),
    user_id: Id("user"),
    email: Type.String(),
    role: Role,
    session: StrictObject({
      session_id: Id("session"),
      token: Type.String({ description: "The access token. It is shown here and never again." }),
      expires_at: Time,
    }),
  }),
  errors: [
    "not_found",
    "already_member",
    "invitation_not_pending",
    "invitation_expired",
    "inviter_no_longer_permitted",
  ],
  async guard({ db, now }, { body }) {
    await openInvitation(db, body.token, now);
  },
  async commit(tx, { caller, requestId, now }, { body }) {
    const { workspace_id: workspaceId } = await openInvitation(tx, body.token, now);
    await lockMembers(tx, workspaceId);
    // Again: it may have been accepted or revoked while this waited.
    const { id, email, role } = await openInvitation(tx, body.token, now);
    const [localPart = email] = email.split("@");
    const userId = await ensureUser(tx, { email, name: body.name ?? localPart }, now);
    const member = await tx
      .selectFrom("memberships")
      .select("id")
      .where("workspace_id", "=", workspaceId)
      .where("user_id", "=", userId)
      .executeTakeFirst();
    if (member) throw new ControlError("already_member", { member_id: member.id });
    const memberId = await addMember(tx, { workspaceId, userId, role }, now);
    const { sessionId, token, expiresAt } = await createSession(
      tx,
      { userId, workspaceId, role, client: "api", name: "invitation" },
      now,
    );
    await tx
      .updateTable("invitations")
      .set({ status: "accepted", ended_at: now })
      .where("id", "=", id)
      .execute();
    // The door knows no workspace here, and who asks has become somebody only now.
    await appendAudit(tx, {
      workspace_id: workspaceId,
      occurred_at: now,
      ...actorOf(caller),
      actor_id: userId,
      actor_display: email,
      action: "invitation.accept",
      resource_type: "invitation",
      resource_id: id,
      outcome: "success",
      summary: "Accept an invitation",
      approval_id: null,
      request_id: requestId,
    });
    const session = { session_id: sessionId, token, expires_at: expiresAt.toISOString() };
    const data = {
      workspace_id: workspaceId,
      member_id: memberId,
      user_id: userId,
      email,
      role,
      session,
    };
    return { data, resourceId: id };
  },
});

export const invitationOperations = [
  listInvitations,
  createInvitation,
  resendInvitation,
  revokeInvitation,
  acceptInvitation,
];
