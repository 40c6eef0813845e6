import type { Kysely } from "kysely";
import { each } from "./statements.ts";

const time = "timestamptz(3)";

/** Destinations, pipelines, jobs. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await each(db, [
    `CREATE TABLE destinations (
      id text PRIMARY KEY,
      workspace_id text NOT NULL REFERENCES workspaces,
      name text NOT NULL,
      connector_id text NOT NULL,
      credential_id text REFERENCES credentials,
      configuration jsonb NOT NULL,
      status text NOT NULL,
      last_check jsonb NOT NULL,
      created_at ${time} NOT NULL,
      updated_at ${time} NOT NULL,
      version integer NOT NULL DEFAULT 1
    )`,
    "CREATE INDEX destinations_of_workspace ON destinations (workspace_id, created_at DESC, id DESC)",
    `CREATE TABLE catalogs (
      id text PRIMARY KEY,
      workspace_id text NOT NULL REFERENCES workspaces,
      source_id text NOT NULL REFERENCES sources ON DELETE CASCADE,
      source_version integer NOT NULL,
      table_count integer NOT NULL,
      created_at ${time} NOT NULL,
      expires_at ${time} NOT NULL
    )`,
    "CREATE INDEX catalogs_of_source ON catalogs (source_id, created_at DESC)",
    `CREATE TABLE catalog_streams (
      catalog_id text NOT NULL REFERENCES catalogs ON DELETE CASCADE,
      position integer NOT NULL,
      namespace text,
      name text NOT NULL,
      stream jsonb NOT NULL,
      PRIMARY KEY (catalog_id, position)
    )`,
    `CREATE TABLE pipelines (
      id text PRIMARY KEY,
      workspace_id text NOT NULL REFERENCES workspaces,
      connection_id text NOT NULL UNIQUE,
      name text NOT NULL,
      source_id text NOT NULL,
      destination_id text NOT NULL,
      status text NOT NULL,
      schedule jsonb NOT NULL,
      next_run_at ${time},
      prefix text NOT NULL,
      namespace_definition text NOT NULL,
      namespace_format text,
      schema_change_policy text NOT NULL,
      stream_count integer NOT NULL,
      pause_reason text,
      created_at ${time} NOT NULL,
      updated_at ${time} NOT NULL,
      version integer NOT NULL DEFAULT 1
    )`,
    "CREATE INDEX pipelines_of_workspace ON pipelines (workspace_id, created_at DESC, id DESC)",
    "CREATE INDEX pipelines_due ON pipelines (next_run_at) WHERE status = 'active' AND next_run_at IS NOT NULL",
    `CREATE TABLE pipeline_streams (
      pipeline_id text NOT NULL REFERENCES pipelines ON DELETE CASCADE,
      position integer NOT NULL,
      namespace text,
      name text NOT NULL,
      sync_mode text NOT NULL,
      destination_sync_mode text NOT NULL,
      cursor_field jsonb NOT NULL,
      primary_key jsonb NOT NULL,
      selected_fields jsonb,
      is_restart boolean NOT NULL DEFAULT false,
      stream jsonb NOT NULL,
      PRIMARY KEY (pipeline_id, position)
    )`,
    `CREATE TABLE pipeline_catalogs (
      pipeline_id text PRIMARY KEY REFERENCES pipelines ON DELETE CASCADE,
      known jsonb NOT NULL
    )`,
    "ALTER TABLE connections ADD COLUMN destination_id text REFERENCES destinations",
    // The fence rises with every attempt: a destination takes nothing more from an attempt with a
    // lower one.
    "ALTER TABLE connections ADD COLUMN fence bigint NOT NULL DEFAULT 0",
    "CREATE INDEX connections_of_destination ON connections (destination_id)",
    `CREATE TABLE jobs (
      id text PRIMARY KEY,
      workspace_id text NOT NULL REFERENCES workspaces,
      kind text NOT NULL,
      subject_id text NOT NULL,
      pipeline_id text,
      connection_id text,
      job_type text NOT NULL,
      status text NOT NULL,
      trigger text NOT NULL,
      options jsonb NOT NULL,
      limits jsonb NOT NULL,
      attempt integer NOT NULL DEFAULT 0,
      max_attempts integer NOT NULL,
      runnable_at ${time} NOT NULL,
      lease_id text,
      lease_until ${time},
      worker text,
      cancel_requested_at ${time},
      records_emitted bigint NOT NULL DEFAULT 0,
      records_committed bigint NOT NULL DEFAULT 0,
      bytes bigint NOT NULL DEFAULT 0,
      failure jsonb,
      created_at ${time} NOT NULL,
      started_at ${time},
      ended_at ${time},
      updated_at ${time} NOT NULL
    )`,
    "CREATE INDEX jobs_of_workspace ON jobs (workspace_id, created_at DESC, id DESC)",
    "CREATE INDEX jobs_of_pipeline ON jobs (pipeline_id, created_at DESC)",
    // At most one job of a pipeline, or run of an activation, is under way: no overlap, whoever
    // asks.
    "CREATE UNIQUE INDEX jobs_one_open ON jobs (subject_id) WHERE status NOT IN ('succeeded', 'failed', 'cancelled')",
    "CREATE INDEX jobs_open ON jobs (runnable_at) WHERE status NOT IN ('succeeded', 'failed', 'cancelled')",
    "CREATE INDEX jobs_running ON jobs (workspace_id) WHERE status = 'running'",
    `CREATE TABLE job_attempts (
      job_id text NOT NULL REFERENCES jobs ON DELETE CASCADE,
      attempt integer NOT NULL,
      status text NOT NULL,
      worker text,
      started_at ${time} NOT NULL,
      ended_at ${time},
      records_emitted bigint NOT NULL DEFAULT 0,
      records_committed bigint NOT NULL DEFAULT 0,
      bytes bigint NOT NULL DEFAULT 0,
      failure jsonb,
      PRIMARY KEY (job_id, attempt)
    )`,
    `CREATE TABLE job_streams (
      job_id text NOT NULL REFERENCES jobs ON DELETE CASCADE,
      namespace text NOT NULL,
      name text NOT NULL,
      status text NOT NULL,
      records_emitted bigint NOT NULL DEFAULT 0,
      records_committed bigint NOT NULL DEFAULT 0,
      bytes bigint NOT NULL DEFAULT 0,
      committed_at ${time},
      failure jsonb,
      PRIMARY KEY (job_id, namespace, name)
    )`,
    `CREATE TABLE job_logs (
      job_id text NOT NULL REFERENCES jobs ON DELETE CASCADE,
      index integer NOT NULL,
      attempt integer NOT NULL,
      at ${time} NOT NULL,
      level text NOT NULL,
      message text NOT NULL,
      fields jsonb NOT NULL,
      PRIMARY KEY (job_id, index)
    )`,
  ]);
}
