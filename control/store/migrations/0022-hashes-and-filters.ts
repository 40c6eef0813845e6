import type { Kysely } from "kysely";
import { each } from "./statements.ts";

/** Columns of a stream of which only hashes leave the source, and conditions that its rows meet. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await each(db, [
    "ALTER TABLE pipeline_streams ADD COLUMN hashed_fields jsonb, ADD COLUMN row_filter jsonb",
  ]);
}
