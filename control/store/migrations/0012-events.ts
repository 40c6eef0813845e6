import type { Kysely } from "kysely";
import { each } from "./statements.ts";

const time = "timestamptz(3)";
const over = "('succeeded', 'failed', 'cancelled')";

/** A trigger that notes a fact: `type`, `subject`, `facts` and `at` are SQL over NEW. */
const noting = (
  name: string,
  on: string,
  when: string,
  {
    type,
    facts = "'{}'",
    at,
  }: { readonly type: string; readonly facts?: string; readonly at: string },
) => [
  `CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO event_facts (workspace_id, type, subject_id, facts, occurred_at)
        VALUES (NEW.workspace_id, ${type}, NEW.id, ${facts}, ${at});
      RETURN NULL;
    END $$`,
  `CREATE TRIGGER ${name} AFTER ${on} FOR EACH ROW WHEN (${when}) EXECUTE FUNCTION ${name}()`,
];

/**
 * Events: facts that wait to be told, the events made of them, who is told, and how that went. Why
 * the database notes the facts itself is told in docs/decisions/0026. Besides: the anchor from
 * which an audit log is verified whose oldest entries were deleted.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await each(db, [
    // Facts that are no event yet, written in the transaction in which they happened.
    `CREATE TABLE event_facts (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      workspace_id text NOT NULL REFERENCES workspaces,
      type text NOT NULL,
      subject_id text NOT NULL,
      facts jsonb NOT NULL,
      occurred_at ${time} NOT NULL
    )`,
    ...noting(
      "job_ended",
      "UPDATE OF status ON jobs",
      `NEW.status IN ${over} AND OLD.status NOT IN ${over}`,
      { type: "'job.' || NEW.status", at: "coalesce(NEW.ended_at, NEW.updated_at)" },
    ),
    ...noting(
      "pipeline_paused",
      "UPDATE OF status ON pipelines",
      "NEW.status = 'paused' AND OLD.status = 'active'",
      {
        type: "'pipeline.paused'",
        facts: "jsonb_build_object('pause_reason', NEW.pause_reason)",
        at: "NEW.updated_at",
      },
    ),
    ...noting("approval_created", "INSERT ON approvals", "NEW.status = 'pending'", {
      type: "'approval.created'",
      at: "NEW.created_at",
    }),
    ...noting(
      "approval_expired",
      "UPDATE OF status ON approvals",
      "OLD.status = 'pending' AND NEW.status = 'expired'",
      { type: "'approval.expired'", at: "NEW.expires_at" },
    ),
    ...noting(
      "approval_decided",
      "UPDATE OF status ON approvals",
      "OLD.status = 'pending' AND NEW.status NOT IN ('pending', 'expired')",
      {
        type: "'approval.decided'",
        facts: "jsonb_build_object('decision', NEW.status)",
        at: "coalesce(NEW.decided_at, now())",
      },
    ),
    ...noting(
      "credential_lost",
      "UPDATE OF status ON credentials",
      "NEW.status = 'needs_reauth' AND OLD.status <> 'needs_reauth'",
      { type: "'credential.needs_reauth'", at: "NEW.updated_at" },
    ),
    // When the provider ends what a person has entered, as that person knows; and the end that was
    // told last.
    `ALTER TABLE credentials ADD COLUMN secrets_expire_at ${time}, ADD COLUMN told_expiry_at ${time}`,
    "CREATE INDEX credentials_expiring ON credentials (secrets_expire_at) WHERE secrets_expire_at IS NOT NULL",
    // Whether a pipeline or an activation works, as the jobs that were told have left it.
    `CREATE TABLE subject_health (
      subject_id text PRIMARY KEY,
      is_failing boolean NOT NULL DEFAULT false,
      degraded_by text
    )`,
    `CREATE TABLE events (
      id text PRIMARY KEY,
      position bigint GENERATED ALWAYS AS IDENTITY,
      workspace_id text NOT NULL REFERENCES workspaces,
      type text NOT NULL,
      data jsonb NOT NULL,
      for_administrators boolean NOT NULL,
      occurred_at ${time} NOT NULL,
      created_at ${time} NOT NULL
    )`,
    "CREATE INDEX events_of_workspace ON events (workspace_id, created_at DESC, id DESC)",
    "CREATE INDEX events_in_order ON events (workspace_id, position)",
    "CREATE INDEX events_by_age ON events (created_at)",
    `CREATE TABLE webhook_endpoints (
      id text PRIMARY KEY,
      workspace_id text NOT NULL REFERENCES workspaces,
      name text NOT NULL,
      url text NOT NULL,
      event_types jsonb,
      status text NOT NULL,
      disabled_reason text,
      created_at ${time} NOT NULL,
      updated_at ${time} NOT NULL,
      version integer NOT NULL DEFAULT 1
    )`,
    "CREATE INDEX webhook_endpoints_of_workspace ON webhook_endpoints (workspace_id, created_at DESC, id DESC)",
    `CREATE TABLE notification_settings (
      workspace_id text PRIMARY KEY REFERENCES workspaces,
      event_types jsonb NOT NULL,
      member_ids jsonb,
      updated_at ${time} NOT NULL,
      updated_by text NOT NULL REFERENCES users,
      version integer NOT NULL
    )`,
    `CREATE TABLE event_deliveries (
      id text PRIMARY KEY,
      workspace_id text NOT NULL REFERENCES workspaces,
      event_id text NOT NULL REFERENCES events ON DELETE CASCADE,
      endpoint_id text REFERENCES webhook_endpoints ON DELETE CASCADE,
      member_id text,
      status text NOT NULL,
      attempt integer NOT NULL DEFAULT 0,
      attempts jsonb NOT NULL DEFAULT '[]',
      next_attempt_at ${time},
      created_at ${time} NOT NULL,
      ended_at ${time}
    )`,
    "CREATE INDEX event_deliveries_due ON event_deliveries (next_attempt_at) WHERE status = 'pending'",
    "CREATE INDEX event_deliveries_of_event ON event_deliveries (event_id)",
    "CREATE INDEX event_deliveries_of_endpoint ON event_deliveries (endpoint_id, created_at DESC, id DESC)",
    // The end of the entries of a log that retention has taken: the chain is verified from there.
    `CREATE TABLE audit_anchors (
      workspace_id text PRIMARY KEY,
      index integer NOT NULL,
      hash text NOT NULL,
      anchored_at ${time} NOT NULL
    )`,
    // The log still only grows, but for what lies before its anchor.
    `CREATE OR REPLACE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF TG_OP = 'DELETE' THEN
          IF EXISTS (
            SELECT FROM audit_anchors
            WHERE workspace_id = OLD.workspace_id AND audit_anchors.index >= OLD.index
          ) THEN RETURN OLD; END IF;
        END IF;
        RAISE EXCEPTION 'audit_logs is append-only';
      END $$`,
    // Retention finds what is old by these.
    `CREATE INDEX jobs_by_end ON jobs (ended_at) WHERE status IN ${over}`,
    "CREATE INDEX jobs_of_subject ON jobs (subject_id, created_at)",
    "CREATE INDEX credential_uses_by_time ON credential_uses (used_at)",
    "CREATE INDEX reverse_etl_runs_by_end ON reverse_etl_runs (finished_at) WHERE finished_at IS NOT NULL",
  ]);
}
