import type { Kysely } from "kysely";
import { each } from "./statements.ts";

const time = "timestamptz(3)";

/**
 * Reverse ETL: models, destinations, activations, their runs, and what has been confirmed at the
 * destination.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await each(db, [
    `CREATE TABLE reverse_etl_models (
      id text PRIMARY KEY,
      workspace_id text NOT NULL REFERENCES workspaces,
      name text NOT NULL,
      destination_id text NOT NULL REFERENCES destinations,
      query_type text NOT NULL,
      sql text NOT NULL,
      table_name text,
      primary_key text NOT NULL,
      columns jsonb NOT NULL,
      created_at ${time} NOT NULL,
      updated_at ${time} NOT NULL,
      version integer NOT NULL DEFAULT 1
    )`,
    "CREATE INDEX reverse_etl_models_of_workspace ON reverse_etl_models (workspace_id, created_at DESC, id DESC)",
    `CREATE TABLE reverse_etl_destinations (
      id text PRIMARY KEY,
      workspace_id text NOT NULL REFERENCES workspaces,
      name text NOT NULL,
      type text NOT NULL,
      credential_id text REFERENCES credentials,
      configuration jsonb NOT NULL,
      created_at ${time} NOT NULL,
      updated_at ${time} NOT NULL,
      version integer NOT NULL DEFAULT 1
    )`,
    "CREATE INDEX reverse_etl_destinations_of_workspace ON reverse_etl_destinations (workspace_id, created_at DESC, id DESC)",
    `CREATE TABLE reverse_etl_activations (
      id text PRIMARY KEY,
      workspace_id text NOT NULL REFERENCES workspaces,
      name text NOT NULL,
      model_id text NOT NULL REFERENCES reverse_etl_models,
      destination_id text NOT NULL REFERENCES reverse_etl_destinations,
      object text NOT NULL,
      operation text NOT NULL,
      mappings jsonb NOT NULL,
      schedule jsonb,
      next_run_at ${time},
      status text NOT NULL,
      created_at ${time} NOT NULL,
      updated_at ${time} NOT NULL,
      version integer NOT NULL DEFAULT 1
    )`,
    "CREATE INDEX reverse_etl_activations_of_workspace ON reverse_etl_activations (workspace_id, created_at DESC, id DESC)",
    `CREATE TABLE reverse_etl_runs (
      id text PRIMARY KEY,
      workspace_id text NOT NULL REFERENCES workspaces,
      activation_id text NOT NULL,
      job_id text,
      status text NOT NULL,
      trigger text NOT NULL,
      full_sync boolean NOT NULL,
      dry_run boolean NOT NULL,
      query_size bigint,
      planned jsonb NOT NULL,
      successful jsonb NOT NULL,
      failed jsonb NOT NULL,
      error jsonb,
      created_at ${time} NOT NULL,
      started_at ${time},
      finished_at ${time}
    )`,
    "CREATE INDEX reverse_etl_runs_of_activation ON reverse_etl_runs (activation_id, created_at DESC, id DESC)",
    // Rows that the destination has confirmed: a run sends the difference to them.
    `CREATE TABLE reverse_etl_snapshots (
      activation_id text NOT NULL REFERENCES reverse_etl_activations ON DELETE CASCADE,
      key text COLLATE "C" NOT NULL,
      row_hash text NOT NULL,
      identifier jsonb,
      confirmed_at ${time} NOT NULL,
      PRIMARY KEY (activation_id, key)
    )`,
    // The batch that is on its way: after a crash it comes again under the same id.
    `CREATE TABLE reverse_etl_batches (
      activation_id text PRIMARY KEY REFERENCES reverse_etl_activations ON DELETE CASCADE,
      batch_id text NOT NULL,
      rows jsonb NOT NULL
    )`,
    // Rows that the destination refused: the next run tries them again.
    `CREATE TABLE reverse_etl_failed_rows (
      run_id text NOT NULL REFERENCES reverse_etl_runs ON DELETE CASCADE,
      key text COLLATE "C" NOT NULL,
      change text NOT NULL,
      reason text NOT NULL,
      message text NOT NULL,
      PRIMARY KEY (run_id, key)
    )`,
  ]);
}
