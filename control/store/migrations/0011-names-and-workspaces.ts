import type { Kysely } from "kysely";
import { each } from "./statements.ts";

/** Tables of things that people name, and list by name. */
const named = [
  "sources",
  "destinations",
  "pipelines",
  "credentials",
  "reverse_etl_models",
  "reverse_etl_destinations",
  "reverse_etl_activations",
];

/**
 * Lists can be ordered by name. Workspaces are made, renamed and deleted over the API, by the
 * administrators of the one that was made first.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await each(db, [
    ...named.map(
      (table) =>
        `CREATE INDEX ${table}_by_name ON ${table} (workspace_id, (lower(name) COLLATE "C"), id)`,
    ),
    `ALTER TABLE workspaces ADD COLUMN administers_instance boolean NOT NULL DEFAULT false,
      ADD COLUMN version integer NOT NULL DEFAULT 1, ADD COLUMN deleted_at timestamptz(3)`,
    `UPDATE workspaces SET administers_instance = true
      WHERE id = (SELECT id FROM workspaces ORDER BY created_at, id LIMIT 1)`,
    "CREATE UNIQUE INDEX workspaces_administering ON workspaces (administers_instance) WHERE administers_instance",
  ]);
}
