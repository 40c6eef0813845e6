import { createInvitationToken, isInvitationToken } from "../contract/ids.ts";
import type { OperationContext } from "../contract/operation.ts";
import { ControlError } from "../contract/reasons.ts";
import { hashToken } from "../door/authenticate.ts";
import type { Db } from "../store/database.ts";
import { invitationMail } from "./invitation-mail.ts";
import type { InvitationRow } from "./rows.ts";
import { consoleOrigin, signInUrl } from "./sign-in-link.ts";

export const dayMs = 86_400_000;

/**
 * The token that the mail will hold. The request's answer is searched for it, unless who invites
 * has to bring the link themselves.
 */
export function newToken(ctx: OperationContext): { readonly token: string } {
  const token = createInvitationToken();
  if (ctx.services.mailer.reaches === "recipients") ctx.secrets.add(token);
  return { token };
}

/** @throws invitation_exists, already_member */
export async function refuseKnown(
  db: Db,
  workspaceId: string,
  email: string,
  now: Date,
): Promise<void> {
  const member = await db
    .selectFrom("memberships")
    .innerJoin("users", "users.id", "memberships.user_id")
    .select("memberships.id")
    .where("memberships.workspace_id", "=", workspaceId)
    .where("users.email", "=", email)
    .executeTakeFirst();
  if (member) throw new ControlError("already_member", { member_id: member.id });
  const invitation = await db
    .selectFrom("invitations")
    .select("id")
    .where("workspace_id", "=", workspaceId)
    .where("email", "=", email)
    .where("status", "=", "pending")
    .where("expires_at", ">", now)
    .executeTakeFirst();
  if (invitation) throw new ControlError("invitation_exists", { invitation_id: invitation.id });
}

/** @throws invitation_not_pending, invitation_expired */
export function requirePending({ status, expires_at }: InvitationRow, now: Date): void {
  if (status === "accepted" || status === "revoked")
    throw new ControlError("invitation_not_pending", { status });
  if (status === "expired" || expires_at <= now) throw new ControlError("invitation_expired");
}

/**
 * The invitation that a token opens. What an administrator has given out ends with their right to
 * give it.
 * @throws not_found, invitation_not_pending, invitation_expired, inviter_no_longer_permitted
 */
export async function openInvitation(db: Db, token: string, now: Date): Promise<InvitationRow> {
  const row = isInvitationToken(token)
    ? await db
        .selectFrom("invitations")
        .selectAll()
        .where("token_hash", "=", hashToken(token))
        .executeTakeFirst()
    : undefined;
  if (!row) throw new ControlError("not_found", { resource: "invitation" });
  requirePending(row, now);
  const inviter = await db
    .selectFrom("memberships")
    .select("role")
    .where("workspace_id", "=", row.workspace_id)
    .where("user_id", "=", row.inviter_user_id)
    .where("status", "=", "active")
    .executeTakeFirst();
  if (inviter?.role !== "admin") throw new ControlError("inviter_no_longer_permitted");
  return row;
}

/** The fate of the mail; the link is for who invites where no mail can bring it. */
export interface Delivered {
  readonly delivery: "sent" | "kept" | "failed";
  readonly link: string | null;
}

/** Sends the mail and notes what became of it. */
export async function deliver(
  ctx: OperationContext,
  id: string,
  token: string,
): Promise<Delivered> {
  const { db, services } = ctx;
  const row = await db
    .selectFrom("invitations")
    .innerJoin("workspaces", "workspaces.id", "invitations.workspace_id")
    .innerJoin("users", "users.id", "invitations.inviter_user_id")
    .selectAll("invitations")
    .select([
      "workspaces.name as workspace",
      "users.name as inviter",
      "users.email as inviter_email",
    ])
    .where("invitations.id", "=", id)
    .executeTakeFirstOrThrow();
  const { mailer, settings } = services;
  const origin = consoleOrigin(settings);
  const isTaken = await mailer.send(invitationMail(row, token, origin));
  const delivery = !isTaken ? "failed" : mailer.reaches === "folder" ? "kept" : "sent";
  const link = origin === undefined ? token : signInUrl(origin, token);
  await db
    .updateTable("invitations")
    .set({ delivery })
    .where("id", "=", id)
    // Another mail may be on its way by now.
    .where("token_hash", "=", hashToken(token))
    .execute();
  return { delivery, link: mailer.reaches === "recipients" ? null : link };
}
