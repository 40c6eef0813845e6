import type { Kysely } from "kysely";
import { each } from "./statements.ts";

/** Which state of a connector that was added a change is meant for. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await each(db, ["ALTER TABLE added_connectors ADD COLUMN version integer NOT NULL DEFAULT 1"]);
}
