import { type Selectable, sql } from "kysely";
import { ControlError, notFound } from "../contract/reasons.ts";
import type { Db } from "../store/database.ts";
import type { Role, Tables } from "../store/tables.ts";

/** A member, or somebody who is invited. */
export interface PersonRow {
  /** `mem_…` or `inv_…` */
  readonly id: string;
  readonly user_id: string | null;
  readonly email: string;
  /** Empty: of somebody who is invited. */
  readonly name: string;
  readonly role: Role;
  readonly status: "active" | "suspended" | "invited";
  readonly created_at: Date;
  readonly last_active_at: Date | null;
  readonly version: number | null;
}

/**
 * Everybody of a workspace as one list, to be filtered and paged; invitations that still wait only
 * when asked for.
 */
export function selectPeople(db: Db, workspaceId: string, invitedAt?: Date) {
  const members = db
    .selectFrom("memberships")
    .innerJoin("users", "users.id", "memberships.user_id")
    .where("memberships.workspace_id", "=", workspaceId)
    .select((eb) => [
      "memberships.id",
      eb.ref("users.id").$castTo<string | null>().as("user_id"),
      "users.email",
      "users.name",
      "memberships.role",
      eb.ref("memberships.status").$castTo<PersonRow["status"]>().as("status"),
      eb.ref("memberships.joined_at").as("created_at"),
      "memberships.last_active_at",
      eb.ref("memberships.version").$castTo<number | null>().as("version"),
    ]);
  const invited = db
    .selectFrom("invitations")
    .where("workspace_id", "=", workspaceId)
    .where("status", "=", "pending")
    .where("expires_at", ">", invitedAt ?? new Date(0))
    .select([
      "id",
      sql<string | null>`NULL::text`.as("user_id"),
      "email",
      sql<string>`''`.as("name"),
      "role",
      sql<PersonRow["status"]>`'invited'`.as("status"),
      "created_at",
      sql<Date | null>`NULL::timestamptz(3)`.as("last_active_at"),
      sql<number | null>`NULL::integer`.as("version"),
    ]);
  return db.selectFrom((invitedAt ? members.unionAll(invited) : members).as("people")).selectAll();
}

/** @throws not_found */
export async function findMember(db: Db, workspaceId: string, id: string): Promise<PersonRow> {
  const row = await selectPeople(db, workspaceId).where("id", "=", id).executeTakeFirst();
  if (!row) throw notFound("member", id);
  return row;
}

/**
 * Keeps everybody else from changing who belongs to the workspace, and as what, until the
 * transaction ends. What is read after it is as it stays.
 */
export async function lockMembers(db: Db, workspaceId: string): Promise<void> {
  await db
    .selectFrom("workspaces")
    .select("id")
    .where("id", "=", workspaceId)
    .forNoKeyUpdate()
    .execute();
}

/** A workspace without an administrator could never have one again. @throws last_admin */
export async function requireOtherAdmin(
  db: Db,
  workspaceId: string,
  { id }: PersonRow,
): Promise<void> {
  const other = await db
    .selectFrom("memberships")
    .select("id")
    .where("workspace_id", "=", workspaceId)
    .where("role", "=", "admin")
    .where("status", "=", "active")
    .where("id", "!=", id)
    .executeTakeFirst();
  if (!other) throw new ControlError("last_admin");
}

export type InvitationRow = Selectable<Tables["invitations"]>;

/** @throws not_found */
export async function findInvitation(
  db: Db,
  workspaceId: string,
  id: string,
): Promise<InvitationRow> {
  const row = await db
    .selectFrom("invitations")
    .selectAll()
    .where("workspace_id", "=", workspaceId)
    .where("id", "=", id)
    .executeTakeFirst();
  if (!row) throw notFound("invitation", id);
  return row;
}
