import { ControlError } from "../contract/reasons.ts";
import type { Db } from "../store/database.ts";
import type { CredentialRow } from "./rows.ts";

/** Most users that a refusal names. */
const maxNamed = 100;

/** @throws credential_in_use naming what uses it */
export async function requireUnused(db: Db, { id, workspace_id }: CredentialRow): Promise<void> {
  const sources = await db
    .selectFrom("sources")
    .select("id")
    .where("workspace_id", "=", workspace_id)
    .where("credential_id", "=", id)
    .orderBy("created_at", "desc")
    .execute();
  if (sources.length === 0) return;
  throw new ControlError("credential_in_use", {
    source_ids: sources.slice(0, maxNamed).map((source) => source.id),
    source_count: sources.length,
  });
}
