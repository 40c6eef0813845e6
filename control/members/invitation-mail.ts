import { basePath } from "../door/base-path.ts";
import type { Mail } from "../mail/mailer.ts";
import type { Role } from "../store/tables.ts";

export interface InvitationFacts {
  readonly email: string;
  readonly role: Role;
  readonly workspace: string;
  readonly inviter: string;
  readonly inviter_email: string;
  readonly message: string | null;
  readonly expires_at: Date;
}

/** Where the browser accepts an invitation. */
export const acceptPath = "/invitations/accept";

/**
 * The mail that invites. The token is behind the link's #: a browser sends that part to no server,
 * so that it stands in no log.
 * @param publicUrl undefined: nobody knows where the server is reached, and the token stands alone
 */
export function invitationMail(
  facts: InvitationFacts,
  token: string,
  publicUrl: string | undefined,
): Mail {
  const { email, role, workspace, inviter, inviter_email, message, expires_at } = facts;
  const way =
    publicUrl === undefined
      ? ["Accept with this token:", token, `(POST ${basePath}/invitations/accept)`]
      : ["Accept here:", `${publicUrl}${acceptPath}#${token}`];
  const quoted = message?.split(/\r?\n/).map((line) => `> ${line}`);
  const paragraphs = [
    [`${inviter} (${inviter_email}) invites you to the workspace "${workspace}" as ${role}.`],
    ...(quoted ? [quoted] : []),
    way,
    [`The invitation ends at ${expires_at.toISOString()}.`],
    [
      "Whoever has this mail can accept in your place: keep it to yourself. If you expected no invitation, ignore it.",
    ],
  ];
  return {
    to: email,
    subject: `Invitation to ${workspace}`,
    text: `${paragraphs.map((lines) => lines.join("\n")).join("\n\n")}\n`,
  };
}
