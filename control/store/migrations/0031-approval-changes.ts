import type { Kysely } from "kysely";
import { each } from "./statements.ts";

/** The changes of an approval that was carried out: later the resource tells something else. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await each(db, ["ALTER TABLE approvals ADD COLUMN changes jsonb"]);
}
