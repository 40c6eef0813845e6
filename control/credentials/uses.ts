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
export async function requireUnused(db: Db, { id, workspace_id }: CredentialRow): Promise<void> {
  const details: Record<string, unknown> = {};
  for (const [table, name] of Object.entries(users)) {
    const rows = await db
      .selectFrom(table as keyof typeof users)
      .select("id")
      .where("workspace_id", "=", workspace_id)
      .where("credential_id", "=", id)
      .orderBy("created_at", "desc")
      .execute();
    if (rows.length === 0) continue;
    details[`${name}_ids`] = rows.slice(0, maxNamed).map((row) => row.id);
    details[`${name}_count`] = rows.length;
  }
  if (Object.keys(details).length > 0) throw new ControlError("credential_in_use", details);
}
