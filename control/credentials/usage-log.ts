import { createId } from "../contract/ids.ts";
import type { Db } from "../store/database.ts";
import type { CredentialRow } from "./rows.ts";

/**
 * Writes down what a credential is about to be opened for: "check", "read". A secret that could not
 * be written down is not opened.
 */
export async function logUse(
  db: Db,
  { id: credential_id, workspace_id }: CredentialRow,
  purpose: string,
  now: Date,
): Promise<void> {
  await db
    .insertInto("credential_uses")
    .values({ id: createId("credentialUse"), workspace_id, credential_id, purpose, used_at: now })
    .execute();
}
