import type { Kysely } from "kysely";
import { each } from "./statements.ts";

/** What a job was to bring is known by the version of its pipeline's selection. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await each(db, [
    "ALTER TABLE pipelines ADD COLUMN selection_version integer NOT NULL DEFAULT 0",
    "ALTER TABLE jobs ADD COLUMN selection_version integer",
  ]);
}
