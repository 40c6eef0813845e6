import type { Kysely } from "kysely";
import { each } from "./statements.ts";

/** Adds how deleted rows of a source are treated, and how many a job has found. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await each(db, [
    `ALTER TABLE pipeline_streams ADD COLUMN detect_deletes text NOT NULL DEFAULT 'none'
      CHECK (detect_deletes IN ('none', 'soft', 'hard'))`,
    ...["jobs", "job_attempts", "job_streams"].map(
      (table) => `ALTER TABLE ${table} ADD COLUMN records_deleted bigint NOT NULL DEFAULT 0`,
    ),
  ]);
}
