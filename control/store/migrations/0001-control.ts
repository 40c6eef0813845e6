import type { Kysely } from "kysely";
import { each } from "./statements.ts";

const time = "timestamptz(3)";

/** Workspaces, people, credentials, sources and what the door needs. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await each(db, [
    `CREATE TABLE workspaces (id text PRIMARY KEY, name text NOT NULL, slug text NOT NULL UNIQUE, created_at ${time} NOT NULL)`,
    `CREATE TABLE users (id text PRIMARY KEY, email text NOT NULL UNIQUE, name text NOT NULL, created_at ${time} NOT NULL)`,
    `CREATE TABLE memberships (
      id text PRIMARY KEY,
      workspace_id text NOT NULL REFERENCES workspaces,
      user_id text NOT NULL REFERENCES users,
      role text NOT NULL,
      status text NOT NULL,
      joined_at ${time} NOT NULL,
      last_active_at ${time},
      UNIQUE (workspace_id, user_id)
    )`,
    "CREATE INDEX memberships_of_user ON memberships (user_id)",
    `CREATE TABLE sessions (
      id text PRIMARY KEY,
      user_id text NOT NULL REFERENCES users,
      workspace_id text REFERENCES workspaces,
      role text,
      client text NOT NULL,
      scopes jsonb NOT NULL,
      name text,
      token_hash bytea NOT NULL UNIQUE,
      user_agent text,
      ip text,
      created_at ${time} NOT NULL,
      last_seen_at ${time} NOT NULL,
      expires_at ${time} NOT NULL,
      revoked_at ${time}
    )`,
    "CREATE INDEX sessions_of_user ON sessions (user_id)",
    `CREATE TABLE connector_settings (connector_id text PRIMARY KEY, enabled boolean NOT NULL, updated_at ${time} NOT NULL)`,
    `CREATE TABLE credentials (
      id text PRIMARY KEY,
      workspace_id text NOT NULL REFERENCES workspaces,
      handle text NOT NULL UNIQUE,
      connector_id text NOT NULL,
      name text NOT NULL,
      auth_type text NOT NULL,
      status text NOT NULL,
      metadata jsonb NOT NULL,
      base_url text,
      secret_fields jsonb NOT NULL,
      fingerprint text NOT NULL,
      granted_scopes jsonb NOT NULL,
      expires_at ${time},
      last_verified_at ${time},
      last_error jsonb,
      created_at ${time} NOT NULL,
      updated_at ${time} NOT NULL,
      version integer NOT NULL DEFAULT 1
    )`,
    "CREATE INDEX credentials_of_workspace ON credentials (workspace_id, created_at DESC, id DESC)",
    `CREATE TABLE secrets (
      owner_id text NOT NULL,
      version integer NOT NULL,
      workspace_id text NOT NULL,
      kind text NOT NULL,
      kek_id text NOT NULL,
      wrapped_dek bytea NOT NULL,
      sealed bytea NOT NULL,
      created_at ${time} NOT NULL,
      PRIMARY KEY (owner_id, version)
    )`,
    "CREATE INDEX secrets_of_key ON secrets (kek_id)",
    `CREATE TABLE vault_keys (kek_id text PRIMARY KEY, canary bytea NOT NULL, created_at ${time} NOT NULL)`,
    `CREATE TABLE leases (
      id text PRIMARY KEY,
      workspace_id text NOT NULL,
      credential_id text NOT NULL,
      purpose text NOT NULL,
      created_at ${time} NOT NULL,
      expires_at ${time} NOT NULL,
      used_at ${time}
    )`,
    `CREATE TABLE sources (
      id text PRIMARY KEY,
      workspace_id text NOT NULL REFERENCES workspaces,
      name text NOT NULL,
      connector_id text NOT NULL,
      credential_id text NOT NULL REFERENCES credentials,
      configuration jsonb NOT NULL,
      status text NOT NULL,
      last_check jsonb NOT NULL,
      created_at ${time} NOT NULL,
      updated_at ${time} NOT NULL,
      version integer NOT NULL DEFAULT 1
    )`,
    "CREATE INDEX sources_of_workspace ON sources (workspace_id, created_at DESC, id DESC)",
    `CREATE TABLE connections (
      id text PRIMARY KEY,
      workspace_id text NOT NULL REFERENCES workspaces,
      pipeline_id text NOT NULL,
      source_id text NOT NULL REFERENCES sources,
      created_at ${time} NOT NULL
    )`,
    "CREATE INDEX connections_of_source ON connections (source_id)",
    `CREATE TABLE oauth_sessions (
      id text PRIMARY KEY,
      workspace_id text NOT NULL REFERENCES workspaces,
      connector_id text NOT NULL,
      user_id text NOT NULL REFERENCES users,
      session_id text NOT NULL REFERENCES sessions,
      state_hash text NOT NULL UNIQUE,
      redirect_uri text NOT NULL,
      credential_id text,
      name text,
      created_at ${time} NOT NULL,
      expires_at ${time} NOT NULL,
      used_at ${time}
    )`,
    `CREATE TABLE idempotency_keys (
      session_id text NOT NULL,
      method text NOT NULL,
      path text NOT NULL,
      key text NOT NULL,
      request_hash text NOT NULL,
      status integer,
      data jsonb,
      headers jsonb,
      locked_until ${time} NOT NULL,
      expires_at ${time} NOT NULL,
      PRIMARY KEY (session_id, method, path, key)
    )`,
    "CREATE INDEX idempotency_keys_by_end ON idempotency_keys (expires_at)",
    `CREATE TABLE audit_logs (
      id text PRIMARY KEY,
      workspace_id text NOT NULL,
      "index" integer NOT NULL,
      occurred_at ${time} NOT NULL,
      actor_type text NOT NULL,
      actor_id text,
      actor_display text NOT NULL,
      client text NOT NULL,
      action text NOT NULL,
      resource_type text NOT NULL,
      resource_id text,
      outcome text NOT NULL,
      summary text NOT NULL,
      approval_id text,
      request_id text NOT NULL,
      ip text,
      user_agent text,
      hash text NOT NULL,
      UNIQUE (workspace_id, "index")
    )`,
    "CREATE INDEX audit_logs_by_time ON audit_logs (workspace_id, occurred_at DESC, id DESC)",
    `CREATE TABLE audit_heads (workspace_id text PRIMARY KEY, "index" integer NOT NULL, hash text NOT NULL)`,
    // The log only grows: neither a mistake nor a bug of the service changes what was written.
    `CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN RAISE EXCEPTION 'audit_logs is append-only'; END $$`,
    `CREATE TRIGGER audit_logs_append_only BEFORE UPDATE OR DELETE ON audit_logs
      FOR EACH ROW EXECUTE FUNCTION refuse_audit_change()`,
  ]);
}
