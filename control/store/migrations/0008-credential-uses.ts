import type { Kysely } from "kysely";
import { each } from "./statements.ts";

/**
 * A log of what each secret was opened for takes the place of leases that were redeemed at once.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await each(db, [
    "ALTER TABLE leases RENAME TO credential_uses",
    "DELETE FROM credential_uses WHERE used_at IS NULL",
    "ALTER TABLE credential_uses ALTER COLUMN used_at SET NOT NULL",
    "ALTER TABLE credential_uses DROP COLUMN created_at, DROP COLUMN expires_at",
  ]);
}
