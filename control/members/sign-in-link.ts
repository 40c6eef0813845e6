/**
 * Links that sign in to the console: of a terminal, of a mail, of an invitation. The secret is
 * behind the #: a browser sends that part to no server, so that it stands in no log.
 */
import { createLinkCode } from "../contract/ids.ts";
import type { Mail } from "../mail/mailer.ts";
import type { Db } from "../store/database.ts";
import { createSession } from "./sessions.ts";

/** A link is opened at once, or not at all. */
export const linkLifetimeMs = 900_000;
const linkName = "Sign-in link";

/** @param origin of the server, without a path */
export const signInUrl = (origin: string, secret: string): string =>
  `${origin}/#/sign-in/${secret}`;

/** Where people reach the console, as far as the server knows. */
export const consoleOrigin = ({
  publicUrl,
  ownUrl,
}: {
  readonly publicUrl?: string | undefined;
  readonly ownUrl?: string | undefined;
}): string | undefined => publicUrl ?? ownUrl;

/** Makes the code of a link: it signs in once, as this person, in all of their workspaces. */
export async function createLink(
  db: Db,
  {
    userId,
    lifetimeMs = linkLifetimeMs,
  }: { readonly userId: string; readonly lifetimeMs?: number },
  now: Date,
): Promise<{ readonly sessionId: string; readonly code: string; readonly expiresAt: Date }> {
  const { sessionId, token, expiresAt } = await createSession(
    db,
    { userId, client: "cli", name: linkName, token: createLinkCode(), lifetimeMs },
    now,
  );
  return { sessionId, code: token, expiresAt };
}

/** Somebody who asks again within this time has a mail on the way. */
const pauseMs = 60_000;

/**
 * Makes the code of a link for the person with this address; undefined where there is none, they
 * are a member of nothing, or their last link is younger than a minute.
 */
export async function createLinkFor(
  db: Db,
  email: string,
  now: Date,
): Promise<{ readonly email: string; readonly code: string } | undefined> {
  const user = await db
    .selectFrom("users")
    .select(["id", "email"])
    .where("email", "=", email.toLowerCase())
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom("memberships")
          .select("memberships.id")
          .whereRef("memberships.user_id", "=", "users.id")
          .where("memberships.status", "=", "active"),
      ),
    )
    // Two that ask at the same time get one mail.
    .forUpdate()
    .executeTakeFirst();
  if (!user) return undefined;
  const recent = await db
    .selectFrom("sessions")
    .select("id")
    .where("user_id", "=", user.id)
    .where("name", "=", linkName)
    .where("created_at", ">", new Date(now.getTime() - pauseMs))
    .executeTakeFirst();
  if (recent) return undefined;
  const { code } = await createLink(db, { userId: user.id }, now);
  return { email: user.email, code };
}

/** @param origin undefined: nobody knows where the server is reached, and the code stands alone */
export function linkMail(email: string, code: string, origin: string | undefined): Mail {
  const paragraphs = [
    origin === undefined
      ? `This code signs you in to svc: paste it on the console's sign-in page.\n${code}`
      : `This link signs you in to svc:\n${signInUrl(origin, code)}`,
    "It is good once, for a quarter of an hour. If you have not asked for it, ignore it.",
  ];
  return { to: email, subject: "Sign in to svc", text: `${paragraphs.join("\n\n")}\n` };
}
