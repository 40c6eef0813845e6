import { sql } from "kysely";
import { ControlError } from "../contract/reasons.ts";
import type { Db } from "../store/database.ts";
import type { CredentialRow } from "./rows.ts";

/** Most users that a refusal names. */
const maxNamed = 100;

/** The tables whose rows use credentials, and how a refusal calls them. */
const users = {
  sources: "source",
  destinations: "destination",
  reverse_etl_destinations: "reverse_etl_destination",
} as const;

/** @throws credential_in_use naming what uses it */
export async function requireUnused(db: Db, credential: CredentialRow): Promise<void> {
  const details = await usersOf(db, credential);
  if (Object.keys(details).length > 0) throw new ControlError("credential_in_use", details);
}

/**
 * Before a credential is bound to a base URL: what uses it goes there already.
 * @throws credential_mismatch naming what goes elsewhere
 */
export async function requireUsersAt(
  db: Db,
  credential: CredentialRow,
  field: string,
  baseUrl: string,
): Promise<void> {
  const elsewhere = sql<boolean>`configuration ->> ${field}::text <> ${baseUrl}`;
  const details = await usersOf(db, credential, elsewhere);
  if (Object.keys(details).length === 0) return;
  const problem = "what uses the credential has another base URL";
  throw new ControlError("credential_mismatch", { problem, ...details });
}

/** The ids and the number of what uses the credential, for a refusal; nothing when nothing does. */
async function usersOf(
  db: Db,
  { id, workspace_id }: CredentialRow,
  condition = sql<boolean>`true`,
): Promise<Readonly<Record<string, unknown>>> {
  const details: Record<string, unknown> = {};
  for (const [table, name] of Object.entries(users)) {
    const rows = await db
      .selectFrom(table as keyof typeof users)
      .select("id")
      .where("workspace_id", "=", workspace_id)
      .where("credential_id", "=", id)
      .where(condition)
      .orderBy("created_at", "desc")
      .execute();
    if (rows.length === 0) continue;
    details[`${name}_ids`] = rows.slice(0, maxNamed).map((row) => row.id);
    details[`${name}_count`] = rows.length;
  }
  return details;
}
