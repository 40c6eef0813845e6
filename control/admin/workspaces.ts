import type { Db } from "../store/database.ts";
import { addMember, createWorkspace } from "../workspaces.ts";
import type { AdminContext } from "./actions.ts";
import { AdminError } from "./admin-error.ts";
import { auditOperator } from "./audit.ts";

/** The workspace of an id or slug. @throws AdminError */
export async function findWorkspace(
  db: Db,
  idOrSlug: string,
): Promise<{ readonly id: string; readonly slug: string }> {
  const found = await db
    .selectFrom("workspaces")
    .select(["id", "slug"])
    .where(({ eb, or }) => or([eb("id", "=", idOrSlug), eb("slug", "=", idOrSlug)]))
    .executeTakeFirst();
  if (!found) throw new AdminError("there is no workspace of that id or slug");
  return found;
}

/** The longest-serving administrator: of the workspace, or of any. @throws AdminError */
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
  if (!found)
    throw new AdminError("there is no administrator: start the server once with svc serve");
  return found;
}

/** A new workspace; the first administrator of the instance is its administrator. */
export async function addWorkspace(
  { services: { database, clock } }: AdminContext,
  { name }: { readonly name: string },
): Promise<{
  readonly workspace_id: string;
  readonly name: string;
  readonly slug: string;
  readonly admin: string;
}> {
  const now = new Date(clock.now());
  return database.exclusively("workspace.create", () =>
    database.db.transaction().execute(async (tx) => {
      const slug = await freeSlug(tx, name);
      const workspaceId = await createWorkspace(tx, { name, slug }, now);
      const { id: userId, email } = await findAdministrator(tx);
      await addMember(tx, { workspaceId, userId, role: "admin" }, now);
      const entry = {
        action: "workspace.create",
        type: "workspace",
        id: workspaceId,
        summary: "Create a workspace",
      };
      await auditOperator(tx, workspaceId, now, entry);
      return { workspace_id: workspaceId, name, slug, admin: email };
    }),
  );
}

/** `acme-gmbh`, or `acme-gmbh-2` when there is one. */
async function freeSlug(db: Db, name: string): Promise<string> {
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
