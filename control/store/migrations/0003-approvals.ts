import type { Kysely } from "kysely";
import { each } from "./statements.ts";

const time = "timestamptz(3)";

/** Proposals with what became of them, and which kinds of change need one. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await each(db, [
    `CREATE TABLE approvals (
      id text PRIMARY KEY,
      workspace_id text NOT NULL REFERENCES workspaces,
      operation text NOT NULL,
      category text,
      status text NOT NULL,
      source text NOT NULL,
      method text NOT NULL,
      path text NOT NULL,
      params jsonb NOT NULL,
      query jsonb NOT NULL,
      body jsonb NOT NULL,
      sealed_paths jsonb NOT NULL,
      is_held boolean NOT NULL,
      summary text NOT NULL,
      payload_digest text NOT NULL,
      resource_type text NOT NULL,
      resource_id text,
      resource_version integer,
      requires_distinct_approver boolean NOT NULL,
      requested_by text NOT NULL REFERENCES users,
      session_id text NOT NULL REFERENCES sessions,
      reason text,
      created_at ${time} NOT NULL,
      expires_at ${time} NOT NULL,
      decided_by text REFERENCES users,
      decided_at ${time},
      decision_comment text,
      lease_id text,
      lease_until ${time},
      result jsonb,
      error jsonb
    )`,
    "CREATE INDEX approvals_of_workspace ON approvals (workspace_id, created_at DESC, id DESC)",
    "CREATE INDEX approvals_open ON approvals (expires_at) WHERE status IN ('pending', 'approved', 'executing')",
    `CREATE TABLE approval_policies (
      workspace_id text NOT NULL REFERENCES workspaces,
      category text NOT NULL,
      requires_approval boolean NOT NULL,
      require_distinct_approver boolean NOT NULL,
      updated_at ${time} NOT NULL,
      updated_by text NOT NULL REFERENCES users,
      version integer NOT NULL,
      PRIMARY KEY (workspace_id, category)
    )`,
  ]);
}
