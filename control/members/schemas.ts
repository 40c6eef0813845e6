import { type Static, Type } from "typebox";
import { Id, Nullable, OneOf, StrictObject, Time, Version } from "../contract/schemas.ts";
import { roles } from "../store/tables.ts";
import type { InvitationRow, PersonRow } from "./rows.ts";

export const Role = OneOf(roles, {
  description: "Each may do what those before it may.",
});

/** Where mail goes; compared without regard to case. */
export const Email = Type.String({ format: "email", maxLength: 254 });

export const Member = StrictObject(
  {
    member_id: Nullable(Id("member")),
    invitation_id: Nullable(
      Id("invitation", "Of somebody who is invited and has not accepted yet."),
    ),
    user_id: Nullable(Id("user")),
    email: Type.String(),
    name: Nullable(Type.String()),
    role: Role,
    status: OneOf(["active", "suspended", "invited"]),
    joined_at: Nullable(Time),
    last_active_at: Nullable(Time),
    version: Type.Optional(Version),
  },
  { title: "Member" },
);

export function toMember(row: PersonRow): Static<typeof Member> {
  const isInvited = row.status === "invited";
  return {
    member_id: isInvited ? null : row.id,
    invitation_id: isInvited ? row.id : null,
    user_id: row.user_id,
    email: row.email,
    name: isInvited ? null : row.name,
    role: row.role,
    status: row.status,
    joined_at: isInvited ? null : row.created_at.toISOString(),
    last_active_at: row.last_active_at?.toISOString() ?? null,
    ...(row.version === null ? {} : { version: row.version }),
  };
}

export const invitationStatuses = ["pending", "accepted", "revoked", "expired"] as const;

export const Invitation = StrictObject(
  {
    invitation_id: Id("invitation"),
    workspace_id: Id("workspace"),
    email: Type.String(),
    role: Role,
    status: OneOf(invitationStatuses),
    inviter_user_id: Id("user"),
    delivery: OneOf(["pending", "sent", "kept", "failed"], {
      title: "InvitationDelivery",
      description:
        "Whether the mail server has taken the mail; `kept`: the instance has none, and the mail lies in its folder. A failed one can be sent again.",
    }),
    directly_added: Type.Boolean({
      description: "Always false: an invitation becomes a member when it is accepted.",
    }),
    created_at: Time,
    expires_at: Time,
  },
  { title: "Invitation" },
);

export const MadeInvitation = StrictObject(
  {
    ...Invitation.properties,
    link: Nullable(
      Type.String({
        description:
          "What the mail brings, where the instance has no mail server: for who invites to hand on. It is shown here and never again.",
      }),
    ),
  },
  { title: "MadeInvitation" },
);

export function toInvitation(row: InvitationRow, now: Date): Static<typeof Invitation> {
  return {
    invitation_id: row.id,
    workspace_id: row.workspace_id,
    email: row.email,
    role: row.role,
    status: row.status === "pending" && row.expires_at <= now ? "expired" : row.status,
    inviter_user_id: row.inviter_user_id,
    delivery: row.delivery,
    directly_added: false,
    created_at: row.created_at.toISOString(),
    expires_at: row.expires_at.toISOString(),
  };
}
