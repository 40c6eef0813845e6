import { sql } from "kysely";
import { createId } from "../contract/ids.ts";
import { ControlError } from "../contract/reasons.ts";
import type { Db } from "../store/database.ts";
import type { Role } from "../store/tables.ts";

/** Others that make a workspace at the same time wait until this transaction has ended. */
export const lockWorkspaces = (tx: Db) =>
  sql`LOCK TABLE workspaces IN SHARE ROW EXCLUSIVE MODE`.execute(tx);

/** `acme-gmbh`, or `acme-gmbh-2` when there is one. */
export async function freeSlug(db: Db, name: string): Promise<string> {
  const words = name
    .normalize("NFKD")
    .toLowerCase()
    .match(/[a-z0-9]+/g) ?? ["workspace"];
  const slug = words.join("-").slice(0, 60);
  const taken = new Set(
    (
      await db.selectFrom("workspaces").select("slug").where("slug", "like", `${slug}%`).execute()
    ).map((row) => row.slug),
  );
  if (!taken.has(slug)) return slug;
  for (let number = 2; ; number += 1)
    if (!taken.has(`${slug}-${number}`)) return `${slug}-${number}`;
}

/**
 * The first one that is made is the instance's own: its administrators are the instance's
 * administrators.
 */
export async function createWorkspace(
  db: Db,
  { name, slug }: { readonly name: string; readonly slug: string },
  now: Date,
): Promise<string> {
  const id = createId("workspace");
  await db
    .insertInto("workspaces")
    .values({
      id,
      name,
      slug,
      administers_instance: sql<boolean>`NOT EXISTS (SELECT FROM workspaces)`,
      created_at: now,
    })
    .execute();
  return id;
}

/** The workspace of an id or slug. @throws not_found */
export async function findWorkspace(
  db: Db,
  idOrSlug: string,
): Promise<{ readonly id: string; readonly slug: string }> {
  const found = await db
    .selectFrom("workspaces")
    .select(["id", "slug"])
    .where(({ eb, or }) => or([eb("id", "=", idOrSlug), eb("slug", "=", idOrSlug)]))
    .where("deleted_at", "is", null)
    .executeTakeFirst();
  if (!found) throw new ControlError("not_found", { resource: "workspace" });
  return found;
}

/** The longest-serving administrator: of the workspace, or of any. @throws not_found */
export async function findAdministrator(
  db: Db,
  workspaceId?: string,
): Promise<{ readonly id: string; readonly email: string }> {
  let admins = db
    .selectFrom("memberships")
    .innerJoin("users", "users.id", "memberships.user_id")
    .select(["users.id", "users.email"])
    .where("memberships.role", "=", "admin")
    .where("memberships.status", "=", "active");
  if (workspaceId !== undefined)
    admins = admins.where("memberships.workspace_id", "=", workspaceId);
  const found = await admins
    .orderBy("memberships.joined_at")
    .orderBy("memberships.id")
    .limit(1)
    .executeTakeFirst();
  if (!found) throw new ControlError("not_found", { resource: "administrator" });
  return found;
}

export async function createUser(
  db: Db,
  { email, name }: { readonly email: string; readonly name: string },
  now: Date,
): Promise<string> {
  const id = createId("user");
  await db
    .insertInto("users")
    .values({ id, email: email.toLowerCase(), name, created_at: now })
    .execute();
  return id;
}

/** The user with this address, made when there is none. */
export async function ensureUser(
  db: Db,
  { email, name }: { readonly email: string; readonly name: string },
  now: Date,
): Promise<string> {
  await db
    .insertInto("users")
    .values({ id: createId("user"), email: email.toLowerCase(), name, created_at: now })
    .onConflict((conflict) => conflict.column("email").doNothing())
    .execute();
  const { id } = await db
    .selectFrom("users")
    .select("id")
    .where("email", "=", email.toLowerCase())
    .executeTakeFirstOrThrow();
  return id;
}

export async function addMember(
  db: Db,
  {
    workspaceId,
    userId,
    role,
  }: { readonly workspaceId: string; readonly userId: string; readonly role: Role },
  now: Date,
): Promise<string> {
  const id = createId("member");
  await db
    .insertInto("memberships")
    .values({
      id,
      workspace_id: workspaceId,
      user_id: userId,
      role,
      status: "active",
      joined_at: now,
      last_active_at: null,
    })
    .execute();
  return id;
}
