import type { Kysely } from "kysely";
import { each } from "./statements.ts";

/** What the conformance kit has found of a connector that was added: its last report. */
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
