import type { Kysely } from "kysely";
import { each } from "./statements.ts";

/** Bytes of a source's log of changes that its server keeps for a pipeline, as a job was told. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await each(db, [
    "ALTER TABLE jobs ADD COLUMN replication_lag_bytes bigint",
    "ALTER TABLE pipelines ADD COLUMN replication_lag_bytes bigint",
    "CREATE INDEX pipelines_with_lag ON pipelines (source_id) WHERE replication_lag_bytes IS NOT NULL",
  ]);
}
