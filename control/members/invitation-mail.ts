import { basePath } from "../door/base-path.ts";
import type { Mail } from "../mail/mailer.ts";
import type { Role } from "../store/tables.ts";
import { signInUrl } from "./sign-in-link.ts";

export interface InvitationFacts {
  readonly email: string;
  readonly role: Role;
  readonly workspace: string;
  readonly inviter: string;
  readonly inviter_email: string;
  readonly message: string | null;
  readonly expires_at: Date;
}

/**
 * The mail that invites. Its link signs in to the console; a program accepts over the API.
 * @param origin undefined: nobody knows where the server is reached, and the token stands alone
 */
export function invitationMail(
  facts: InvitationFacts,
  token: string,
  origin: string | undefined,
): Mail {
  const { email, role, workspace, inviter, inviter_email, message, expires_at } = facts;
  const way =
    origin === undefined
      ? [
          `Accept with this token, on the console's sign-in page or by POST ${basePath}/invitations/accept:`,
          token,
        ]
      : ["Accept here:", signInUrl(origin, token)];
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
