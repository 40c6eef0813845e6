import type { Kysely } from "kysely";
import { each } from "./statements.ts";

/** Adds the last conformance report on a connector that was added. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await each(db, [
    `CREATE TABLE connector_reports (
      connector_id text PRIMARY KEY REFERENCES added_connectors,
      code_digest text,
      report text NOT NULL,
      kept_at timestamptz(3) NOT NULL
    )`,
  ]);
}
