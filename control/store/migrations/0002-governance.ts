import type { Kysely } from "kysely";
import { each } from "./statements.ts";

const time = "timestamptz(3)";

/** Invitations; versions of members; the audit log by actor, and never emptied. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await each(db, [
    `CREATE TABLE invitations (
      id text PRIMARY KEY,
      workspace_id text NOT NULL REFERENCES workspaces,
      email text NOT NULL,
      role text NOT NULL,
      status text NOT NULL,
      inviter_user_id text NOT NULL REFERENCES users,
      message text,
      token_hash bytea NOT NULL UNIQUE,
      delivery text NOT NULL,
      lifetime_days integer NOT NULL,
      created_at ${time} NOT NULL,
      expires_at ${time} NOT NULL,
      ended_at ${time}
    )`,
    "CREATE INDEX invitations_of_workspace ON invitations (workspace_id, created_at DESC, id DESC)",
    "CREATE UNIQUE INDEX invitations_pending ON invitations (workspace_id, email) WHERE status = 'pending'",
    "ALTER TABLE memberships ADD COLUMN version integer NOT NULL DEFAULT 1",
    "CREATE INDEX audit_logs_by_actor ON audit_logs (workspace_id, actor_id, occurred_at DESC, id DESC)",
    // Emptying the table passes the trigger of its rows by.
    `CREATE TRIGGER audit_logs_not_emptied BEFORE TRUNCATE ON audit_logs
      FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change()`,
  ]);
}
