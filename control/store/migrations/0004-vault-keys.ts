import type { Kysely } from "kysely";
import { each } from "./statements.ts";

/** A key goes only when nothing is sealed under it, whatever happens at the same moment. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await each(db, [
    "ALTER TABLE secrets ADD CONSTRAINT secrets_kek FOREIGN KEY (kek_id) REFERENCES vault_keys (kek_id)",
  ]);
}
