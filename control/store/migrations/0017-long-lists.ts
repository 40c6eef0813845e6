import type { Kysely } from "kysely";
import { each } from "./statements.ts";

/**
 * For a list that is asked for one value of a column, however rare it is among many rows. Rows of
 * one time are few: their ids need not stand in the index.
 */
const byColumn = (table: string, columns: readonly string[], time: string, of = "workspace_id") =>
  columns.map(
    (column) => `CREATE INDEX ${table}_by_${column} ON ${table} (${of}, ${column}, ${time} DESC)`,
  );

/** An index without the value that nearly all rows have: those are found by their time. */
const byRare = (table: string, column: string, usual: string, time: string) =>
  `CREATE INDEX ${table}_by_${column} ON ${table} (workspace_id, ${column}, ${time} DESC) WHERE ${column} <> '${usual}'`;

/**
 * Lists read about as many rows as they give, whatever they are asked for; and a person's request
 * reads about as many memberships, however many there are.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await each(db, [
    // Jobs that are open have indexes of their own, by which they are claimed: these must not take
    // their place.
    "CREATE INDEX jobs_by_connection_id ON jobs (connection_id, created_at DESC)",
    "CREATE INDEX jobs_by_status ON jobs (workspace_id, status, created_at DESC) WHERE status IN ('succeeded', 'failed', 'cancelled')",
    byRare("jobs", "job_type", "sync", "created_at"),
    ...byColumn("audit_logs", ["action", "resource_type", "resource_id", "client"], "occurred_at"),
    byRare("audit_logs", "outcome", "success", "occurred_at"),
    ...byColumn(
      "approvals",
      ["status", "category", "operation", "source", "requested_by"],
      "created_at",
    ),
    ...byColumn("events", ["type"], "created_at"),
    ...byColumn("event_deliveries", ["status"], "created_at", "endpoint_id"),
    "CREATE INDEX reverse_etl_runs_of_workspace ON reverse_etl_runs (workspace_id, created_at DESC, id DESC)",
    "CREATE INDEX connections_of_workspace ON connections (workspace_id, created_at DESC, id DESC)",
    "CREATE INDEX memberships_by_age ON memberships (user_id, joined_at, id)",
    "DROP INDEX memberships_of_user",
    "CREATE INDEX workspaces_by_time ON workspaces (created_at DESC, id DESC)",
    `CREATE INDEX workspaces_by_name ON workspaces ((lower(name) COLLATE "C"), id)`,
  ]);
}
