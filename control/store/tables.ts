/**
 * The database as TypeScript sees it. The SQL is in migrations/. Times are timestamptz(3), JSON
 * columns jsonb.
 */
import type { ColumnType, Generated, GeneratedAlways } from "kysely";
import type { RowCondition } from "svc-connectors/host";

/** Written as text (`JSON.stringify`), read as what it holds. */
export type Json<T> = ColumnType<T, string, string>;
type JsonOrNull<T> = ColumnType<T | null, string | null, string | null>;
type Bytes = ColumnType<Uint8Array, Uint8Array, Uint8Array>;

export const roles = ["viewer", "runner", "editor", "admin"] as const;
/** Each may do what those before it may. */
export type Role = (typeof roles)[number];

export const clients = ["api", "cli", "mcp"] as const;
/** The kinds of client: a program, a person at a terminal, or an agent. */
export type Client = (typeof clients)[number];

export const scopes = [
  "control:read",
  "control:write",
  "control:approve",
  "control:admin",
] as const;
export type Scope = (typeof scopes)[number];

export const credentialStatuses = [
  "pending",
  "active",
  "needs_reauth",
  "pending_approval",
  "revoked",
  "failed",
  "expired",
] as const;
export type CredentialStatus = (typeof credentialStatuses)[number];

export const approvalStatuses = [
  "pending",
  "approved",
  "executing",
  "executed",
  "failed",
  "rejected",
  "expired",
  "cancelled",
] as const;
export type ApprovalStatus = (typeof approvalStatuses)[number];

export const pipelineStatuses = ["active", "paused", "locked", "deleted"] as const;
export type PipelineStatus = (typeof pipelineStatuses)[number];

export const jobStatuses = [
  "pending",
  "queued",
  "running",
  "incomplete",
  "succeeded",
  "failed",
  "cancelled",
] as const;
/**
 * `pending`: made · `queued`: waits for a worker · `incomplete`: an attempt failed and another will
 * follow. The last three are final.
 */
export type JobStatus = (typeof jobStatuses)[number];

/**
 * `refresh`: a sync that reads all from the beginning · `clear`: empties the tables · `reset`:
 * clears, and then syncs.
 */
export const jobTypes = ["sync", "reset", "refresh", "clear"] as const;

export const attemptStatuses = [
  "running",
  "succeeded",
  "failed",
  "cancelled",
  "lost",
  "released",
] as const;

export const triggers = ["manual", "schedule", "api", "approval"] as const;
export type Trigger = (typeof triggers)[number];

/** Why an attempt failed, in words that may leave. */
export interface Failure {
  readonly origin: "source" | "destination" | "platform";
  readonly type:
    | "config_error"
    | "transient_error"
    | "system_error"
    | "auth_error"
    | "rate_limited"
    | "timeout"
    | "manual_cancellation";
  /** A code of the runtime's error table. */
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
  readonly stream?: string;
  readonly at: string;
}

/** When a pipeline or an activation runs by itself. */
export type Schedule =
  | { readonly type: "manual" }
  /** One job after another, each as long as its slice of time. */
  | { readonly type: "continuous" }
  | {
      readonly type: "basic";
      readonly units: number;
      readonly time_unit: "minutes" | "hours" | "days" | "weeks";
    }
  | { readonly type: "cron"; readonly cron_expression: string; readonly cron_timezone: string };

/** Rows of a run by what happens to them. */
export interface RowCounts {
  readonly addedCount: number;
  readonly changedCount: number;
  readonly removedCount: number;
}

export const runStatuses = [
  "queued",
  "querying",
  "processing",
  "reporting",
  "succeeded",
  "warning",
  "failed",
  "cancelled",
  "interrupted",
  "skipped",
] as const;
export type RunStatus = (typeof runStatuses)[number];

export const eventTypes = [
  "job.succeeded",
  "job.failed",
  "job.cancelled",
  "pipeline.failed",
  "pipeline.recovered",
  "pipeline.paused",
  "pipeline.degraded",
  "activation.failed",
  "activation.recovered",
  "activation.degraded",
  "schema.changed",
  "approval.created",
  "approval.decided",
  "approval.expired",
  "credential.needs_reauth",
  "credential.expiring",
  "webhook_endpoint.disabled",
  "webhook_endpoint.test",
] as const;
export type EventType = (typeof eventTypes)[number];

export const disabledReasons = ["by_a_person", "deliveries_failed", "gone"] as const;
export type DisabledReason = (typeof disabledReasons)[number];

export const deliveryStatuses = ["pending", "succeeded", "failed", "cancelled"] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

/** One try to deliver an event. Nothing of the answer but its status is kept. */
export interface DeliveryAttempt {
  readonly at: string;
  readonly duration_ms: number;
  /** HTTP status; null: there was no answer, or it was a mail. */
  readonly response_status: number | null;
  /** A code of the runtime's error table; null: it was taken. */
  readonly error_code: string | null;
}

/** A 64-bit count; PostgreSQL gives it as text. */
type Count = ColumnType<string | number, number | bigint | undefined, number | bigint>;
/** Bytes that a job was told; null: none. */
type CountOrNull = ColumnType<string | number | null, number | null | undefined, number | null>;

export interface Tables {
  workspaces: {
    id: string;
    name: string;
    slug: string;
    /** Its administrators are the instance's: it is the first that was made. */
    administers_instance: ColumnType<boolean, boolean | undefined, never>;
    created_at: Date;
    /** Nobody belongs to it any more; its audit log stays. */
    deleted_at: ColumnType<Date | null, undefined, Date>;
    version: Generated<number>;
  };
  users: { id: string; email: string; name: string; created_at: Date };
  memberships: {
    id: string;
    workspace_id: string;
    user_id: string;
    role: Role;
    status: "active" | "suspended";
    joined_at: Date;
    last_active_at: Date | null;
    version: Generated<number>;
  };
  invitations: {
    id: string;
    workspace_id: string;
    /** In lower case. */
    email: string;
    role: Role;
    /**
     * A pending one whose time is over counts as expired; it is written down when the next one for
     * the address is made.
     */
    status: "pending" | "accepted" | "revoked" | "expired";
    inviter_user_id: string;
    message: string | null;
    /** SHA-256 of the token in the mail. */
    token_hash: Bytes;
    /** The fate of the latest mail. */
    delivery: "pending" | "sent" | "kept" | "failed";
    lifetime_days: number;
    created_at: Date;
    expires_at: Date;
    /** Accepted or revoked. */
    ended_at: Date | null;
  };
  sessions: {
    id: string;
    user_id: string;
    /** Null: every workspace of the user. */
    workspace_id: string | null;
    /** The most that the token may do; null: as much as its user. */
    role: Role | null;
    /** With whose token it was made over the API; null: otherwise. It is revoked with that one. */
    made_by_session_id: ColumnType<string | null, string | null | undefined, never>;
    client: Client;
    scopes: Json<readonly Scope[]>;
    name: string | null;
    /** SHA-256 of the access token. */
    token_hash: Bytes;
    user_agent: string | null;
    ip: string | null;
    created_at: Date;
    last_seen_at: Date;
    expires_at: Date;
    revoked_at: Date | null;
  };
  connector_settings: { connector_id: string; enabled: boolean; updated_at: Date };
  /** Connectors that do not come with svc. */
  added_connectors: {
    /** `conn_…`, as its module says. */
    id: string;
    /**
     * Absolute path of its module or folder, the name of an installed package or of a declarative
     * manifest, or the repository of an image.
     */
    kind: "path" | "package" | "manifest" | "image";
    place: string;
    /**
     * The text of a declarative manifest, or what an image has said of itself. Null: it is code.
     */
    document: string | null;
    /** JSON text: which image, and what it may. Null: it is none. */
    image: string | null;
    code_digest: string;
    /** JSON text: what it says of itself, and its streams with standard settings. */
    manifest: string;
    streams: string;
    /** The least wall around it. */
    sandbox: "process" | "bubblewrap";
    /** Who added it: a command, the settings of a server, or an administrator of the instance. */
    origin: "command" | "settings" | "api";
    /** Counts what it was replaced by, and its removal. */
    version: Generated<number>;
    created_at: Date;
    updated_at: Date;
    /** Set: it cannot run. Things that were made with it are kept. */
    removed_at: Date | null;
  };
  /** The last conformance report on one of them. */
  connector_reports: {
    connector_id: string;
    /** Of the code that was tried. Null: the report does not say. */
    code_digest: string | null;
    /** JSON text. */
    report: string;
    kept_at: Date;
  };
  credentials: {
    id: string;
    workspace_id: string;
    handle: string;
    connector_id: string;
    name: string;
    auth_type: "api_key" | "basic" | "custom" | "oauth2";
    status: CredentialStatus;
    /** Settings that go with the secrets and are none. */
    metadata: Json<Record<string, unknown>>;
    /** Canonical base URL to which the secrets may be sent; null: what the connector declares. */
    base_url: string | null;
    secret_fields: Json<readonly string[]>;
    fingerprint: string;
    granted_scopes: Json<readonly string[]>;
    expires_at: Date | null;
    /** When the provider ends what a person has entered, as that person knows. */
    secrets_expire_at: ColumnType<Date | null, Date | null | undefined, Date | null>;
    /** The `secrets_expire_at` of which people were told. */
    told_expiry_at: ColumnType<Date | null, Date | null | undefined, Date | null>;
    last_verified_at: Date | null;
    last_error: JsonOrNull<{ readonly reason: string; readonly at: string }>;
    created_at: Date;
    updated_at: Date;
    version: Generated<number>;
  };
  /**
   * Sealed values. `owner_id` is what they belong to: a credential, an OAuth session, a proposal.
   * The highest version counts.
   */
  secrets: {
    owner_id: string;
    version: number;
    workspace_id: string;
    kind: string;
    kek_id: string;
    wrapped_dek: Bytes;
    sealed: Bytes;
    created_at: Date;
  };
  /** One row per key-encryption key that was ever used here, with a known text sealed under it. */
  vault_keys: { kek_id: string; canary: Bytes; created_at: Date };
  /** One row for each time that a secret was opened. */
  credential_uses: {
    id: string;
    workspace_id: string;
    credential_id: string;
    purpose: string;
    used_at: Date;
  };
  sources: {
    id: string;
    workspace_id: string;
    name: string;
    connector_id: string;
    credential_id: string;
    configuration: Json<Record<string, unknown>>;
    status: "active" | "error" | "disabled";
    last_check: Json<{ readonly status: string; readonly checked_at: string }>;
    created_at: Date;
    updated_at: Date;
    version: Generated<number>;
  };
  /**
   * A connection is there while its pipeline lives: it keeps its source and its destination from
   * being deleted.
   */
  connections: {
    id: string;
    workspace_id: string;
    pipeline_id: string;
    source_id: string;
    destination_id: string | null;
    /** Rises with every attempt. */
    fence: Count;
    created_at: Date;
  };
  destinations: {
    id: string;
    workspace_id: string;
    name: string;
    connector_id: string;
    /** Null: the connector has no secrets. */
    credential_id: string | null;
    configuration: Json<Record<string, unknown>>;
    status: "active" | "error" | "disabled";
    last_check: Json<{ readonly status: string; readonly checked_at: string }>;
    created_at: Date;
    updated_at: Date;
    version: Generated<number>;
  };
  /** A catalog that a source was found to have. A prepare is one. */
  catalogs: {
    id: string;
    workspace_id: string;
    source_id: string;
    source_version: number;
    table_count: number;
    created_at: Date;
    expires_at: Date;
  };
  /** `stream` is a CatalogStream. */
  catalog_streams: {
    catalog_id: string;
    position: number;
    namespace: string | null;
    name: string;
    stream: Json<Record<string, unknown>>;
  };
  pipelines: {
    id: string;
    workspace_id: string;
    connection_id: string;
    name: string;
    source_id: string;
    destination_id: string;
    status: PipelineStatus;
    schedule: Json<Schedule>;
    /** When the schedule wants the next job; null: manual, or not active. */
    next_run_at: Date | null;
    prefix: string;
    namespace_definition: "source" | "destination" | "custom_format";
    namespace_format: string | null;
    schema_change_policy: "ignore" | "propagate_columns" | "propagate_fully" | "pause";
    /** Read at the same time. */
    parallel_streams: Generated<number>;
    stream_count: number;
    /** Rises whenever its streams or their tables are agreed anew. */
    selection_version: Generated<number>;
    /** Why svc itself has paused it. */
    pause_reason: string | null;
    /** Of the source's log of changes, as its last job was told; null: it reads none. */
    replication_lag_bytes: CountOrNull;
    created_at: Date;
    updated_at: Date;
    version: Generated<number>;
  };
  /** `stream` is the CatalogStream as it was agreed. */
  pipeline_streams: {
    pipeline_id: string;
    position: number;
    namespace: string | null;
    name: string;
    sync_mode: "full_refresh" | "incremental";
    destination_sync_mode: "append" | "overwrite" | "append_dedup";
    cursor_field: Json<readonly string[]>;
    primary_key: Json<readonly (readonly string[])[]>;
    selected_fields: JsonOrNull<readonly string[]>;
    hashed_fields: JsonOrNull<readonly string[]>;
    row_filter: JsonOrNull<readonly RowCondition[]>;
    /** Its saved state counts no more: the next job reads it from the beginning. */
    is_restart: Generated<boolean>;
    detect_deletes: Generated<"none" | "soft" | "hard">;
    stream: Json<Record<string, unknown>>;
  };
  /**
   * Names of all streams that the source had when the pipeline's were chosen: others are new. Each
   * is [namespace or "", name].
   */
  pipeline_catalogs: { pipeline_id: string; known: Json<readonly (readonly [string, string])[]> };
  /**
   * Work in the queue: a sync, or a run of an activation. One subject has at most one that is not
   * final.
   */
  jobs: {
    id: string;
    workspace_id: string;
    kind: "sync" | "reverse_etl";
    /** The pipeline, or the activation. */
    subject_id: string;
    pipeline_id: string | null;
    connection_id: string | null;
    job_type: (typeof jobTypes)[number];
    status: JobStatus;
    trigger: Trigger;
    options: Json<Record<string, unknown>>;
    /**
     * The shared things that it uses, which only so many jobs may use at once: "credential:cred_…",
     * "provider:conn_…", "destination:dst_…".
     */
    limits: Json<readonly string[]>;
    /** The one of each kind among its limits; "" without one. */
    provider_key: GeneratedAlways<string>;
    destination_key: GeneratedAlways<string>;
    credential_key: GeneratedAlways<string>;
    /** Number of the attempt under way, or the last one; 0 before the first. */
    attempt: Generated<number>;
    max_attempts: number;
    /** Not before this. */
    runnable_at: Date;
    /** Of the pipeline's selection that its streams' statuses are about; null: of none yet. */
    selection_version: ColumnType<number | null, number | null | undefined, number>;
    /** Who runs it, and until when that counts as alive. */
    lease_id: string | null;
    lease_until: Date | null;
    worker: string | null;
    cancel_requested_at: Date | null;
    records_emitted: Count;
    records_committed: Count;
    records_deleted: Count;
    bytes: Count;
    /** Of the source's log of changes, as it was told last; null: nothing was told. */
    replication_lag_bytes: CountOrNull;
    failure: JsonOrNull<Failure>;
    created_at: Date;
    started_at: Date | null;
    ended_at: Date | null;
    updated_at: Date;
  };
  /** A group of jobs in line: the database keeps it, and claims look at it. */
  job_groups: {
    workspace_id: string;
    provider_key: string;
    destination_key: string;
    /** No job of it that is in line was made earlier. */
    oldest_at: Date;
  };
  /** Requests to providers that count at the moment; see services/provider-rates.ts. */
  provider_requests: { credential_id: string; id: GeneratedAlways<string>; until: Date };
  /** Credentials with which nothing is sent before that. */
  provider_blocks: { credential_id: string; until: Date };
  /**
   * Rows of syncs, by quarters of an hour; a trigger counts them (migrations/0020-rows-per-day.ts).
   */
  pipeline_rows: {
    workspace_id: string;
    pipeline_id: string;
    slot: Date;
    records: Count;
    bytes: Count;
  };
  job_attempts: {
    job_id: string;
    attempt: number;
    /** `lost`: its worker died · `released`: its worker was asked to stop. */
    status: (typeof attemptStatuses)[number];
    worker: string | null;
    started_at: Date;
    ended_at: Date | null;
    records_emitted: Count;
    records_committed: Count;
    records_deleted: Count;
    bytes: Count;
    failure: JsonOrNull<Failure>;
  };
  job_streams: {
    job_id: string;
    /** Empty: none. */
    namespace: string;
    name: string;
    status: "pending" | "running" | "complete" | "incomplete";
    records_emitted: Count;
    records_committed: Count;
    records_deleted: Count;
    bytes: Count;
    committed_at: Date | null;
    failure: JsonOrNull<Failure>;
  };
  /** Sanitised before they come here. */
  job_logs: {
    job_id: string;
    index: number;
    attempt: number;
    at: Date;
    level: "debug" | "info" | "warn" | "error";
    message: string;
    fields: Json<Record<string, unknown>>;
  };
  reverse_etl_models: {
    id: string;
    workspace_id: string;
    name: string;
    /** The warehouse that it reads. */
    destination_id: string;
    query_type: "raw_sql" | "table" | "custom";
    /** One SELECT, also for a table. */
    sql: string;
    table_name: string | null;
    primary_key: string;
    columns: Json<readonly { readonly name: string; readonly type: string }[]>;
    created_at: Date;
    updated_at: Date;
    version: Generated<number>;
  };
  reverse_etl_destinations: {
    id: string;
    workspace_id: string;
    name: string;
    type: string;
    credential_id: string | null;
    configuration: Json<Record<string, unknown>>;
    created_at: Date;
    updated_at: Date;
    version: Generated<number>;
  };
  reverse_etl_activations: {
    id: string;
    workspace_id: string;
    name: string;
    model_id: string;
    destination_id: string;
    object: string;
    operation: "insert" | "update" | "upsert" | "mirror" | "append";
    mappings: Json<
      readonly {
        readonly from: string;
        readonly to: string;
        readonly isPrimaryIdentifier: boolean;
      }[]
    >;
    schedule: JsonOrNull<Schedule>;
    next_run_at: Date | null;
    status: "active" | "paused" | "disabled";
    created_at: Date;
    updated_at: Date;
    version: Generated<number>;
  };
  reverse_etl_runs: {
    id: string;
    workspace_id: string;
    activation_id: string;
    /** Null: skipped. */
    job_id: string | null;
    status: RunStatus;
    trigger: Trigger;
    full_sync: boolean;
    dry_run: boolean;
    query_size: ColumnType<string | number | null, number | null, number | null>;
    planned: Json<RowCounts>;
    successful: Json<RowCounts>;
    failed: Json<RowCounts>;
    error: JsonOrNull<{ readonly reason: string; readonly message: string }>;
    created_at: Date;
    started_at: Date | null;
    finished_at: Date | null;
  };
  /** Rows that the destination has confirmed, by the model's key. */
  reverse_etl_snapshots: {
    activation_id: string;
    key: string;
    row_hash: string;
    /**
     * The identifier of the row at the destination when it has gone from the model; null where
     * nothing is removed.
     */
    identifier: JsonOrNull<unknown>;
    confirmed_at: Date;
  };
  /**
   * The batch of an activation that is on its way: [key, row_hash or "", change] of each row, in
   * order.
   */
  reverse_etl_batches: {
    activation_id: string;
    batch_id: string;
    rows: Json<readonly (readonly [string, string, "added" | "changed" | "removed"])[]>;
  };
  reverse_etl_failed_rows: {
    run_id: string;
    key: string;
    change: "added" | "changed" | "removed";
    reason: string;
    message: string;
  };
  oauth_sessions: {
    id: string;
    workspace_id: string;
    connector_id: string;
    user_id: string;
    session_id: string;
    state_hash: string;
    redirect_uri: string;
    /** The credential that is to be connected again; null: a new one. */
    credential_id: string | null;
    name: string | null;
    created_at: Date;
    expires_at: Date;
    used_at: Date | null;
  };
  approvals: {
    id: string;
    workspace_id: string;
    /** The operation's id. */
    operation: string;
    category: string | null;
    status: ApprovalStatus;
    source: Client;
    method: string;
    /** Below the base path, with its query. */
    path: string;
    params: Json<Record<string, string>>;
    query: Json<Record<string, unknown>>;
    /** The request's body, secrets replaced; or, when `is_held`, what is held back. */
    body: Json<Record<string, unknown>>;
    /** Where in the body the sealed values were, as lists of names. */
    sealed_paths: Json<readonly (readonly string[])[]>;
    is_held: boolean;
    summary: string;
    payload_digest: string;
    resource_type: string;
    resource_id: string | null;
    resource_version: number | null;
    requires_distinct_approver: boolean;
    requested_by: string;
    session_id: string;
    reason: string | null;
    created_at: Date;
    expires_at: Date;
    decided_by: string | null;
    decided_at: Date | null;
    decision_comment: string | null;
    /** Who carries it out, and until when that counts as alive. */
    lease_id: string | null;
    lease_until: Date | null;
    result: JsonOrNull<Record<string, unknown>>;
    /** The fields that it was about to change when it was carried out; null: it was not. */
    changes: JsonOrNull<Record<string, unknown>>;
    error: JsonOrNull<{ readonly code: string; readonly reason: string; readonly message: string }>;
  };
  /** Only what differs from the default has a row. */
  approval_policies: {
    workspace_id: string;
    category: string;
    requires_approval: boolean;
    require_distinct_approver: boolean;
    updated_at: Date;
    updated_by: string;
    version: number;
  };
  idempotency_keys: {
    session_id: string;
    method: string;
    path: string;
    key: string;
    /** SHA-256 of the request's meaning. */
    request_hash: string;
    /** Null while the first request runs. */
    status: number | null;
    data: JsonOrNull<Record<string, unknown>>;
    headers: JsonOrNull<Record<string, string>>;
    /** Until when the first request counts as running. */
    locked_until: Date;
    expires_at: Date;
  };
  audit_logs: {
    id: string;
    workspace_id: string;
    /** 1, 2, 3 … within the workspace. */
    index: number;
    occurred_at: Date;
    actor_type: "user" | "system";
    actor_id: string | null;
    actor_display: string;
    client: Client;
    action: string;
    resource_type: string;
    resource_id: string | null;
    outcome: "success" | "failure" | "denied";
    summary: string;
    approval_id: string | null;
    request_id: string;
    ip: string | null;
    user_agent: string | null;
    /** SHA-256 over the previous hash and this entry, hex. */
    hash: string;
  };
  /** The end of each workspace's chain: locked while an entry is added. */
  audit_heads: { workspace_id: string; index: number; hash: string };
  /** The place up to which retention has deleted a log, and the hash there. */
  audit_anchors: { workspace_id: string; index: number; hash: string; anchored_at: Date };
  /**
   * Facts that are no event yet. Triggers write most of them, in the transaction in which they
   * happened (migrations/0012-events.ts).
   */
  event_facts: {
    /** In the order in which they were noted. */
    id: GeneratedAlways<string>;
    workspace_id: string;
    type: string;
    subject_id: string;
    facts: Json<Record<string, unknown>>;
    occurred_at: Date;
  };
  /** Whether a pipeline or an activation works, as the jobs that were told have left it. */
  subject_health: {
    subject_id: string;
    is_failing: boolean;
    /** The job by which rows or columns were left out last; null: none were. */
    degraded_by: string | null;
  };
  events: {
    id: string;
    /** Rises within a workspace in the order in which events can be seen. */
    position: GeneratedAlways<string>;
    workspace_id: string;
    type: EventType;
    data: Json<Record<string, unknown>>;
    for_administrators: boolean;
    occurred_at: Date;
    created_at: Date;
  };
  webhook_endpoints: {
    id: string;
    workspace_id: string;
    name: string;
    url: string;
    /** Null: all. */
    event_types: JsonOrNull<readonly EventType[]>;
    format: Generated<"event" | "slack">;
    status: "enabled" | "disabled";
    disabled_reason: DisabledReason | null;
    created_at: Date;
    updated_at: Date;
    version: Generated<number>;
  };
  /** Only what differs from the default has a row. */
  notification_settings: {
    workspace_id: string;
    event_types: Json<readonly EventType[]>;
    /** Null: all administrators. */
    member_ids: JsonOrNull<readonly string[]>;
    updated_at: Date;
    updated_by: string;
    version: number;
  };
  /** One event on its way to one receiver: an endpoint, or the mailbox of a member. */
  event_deliveries: {
    id: string;
    workspace_id: string;
    event_id: string;
    endpoint_id: string | null;
    member_id: string | null;
    status: DeliveryStatus;
    /** Number of attempts that were begun since it was last asked for. */
    attempt: Generated<number>;
    /** The latest ones that have ended. */
    attempts: Json<readonly DeliveryAttempt[]>;
    /** Not before this; while an attempt is under way: when it counts as lost. */
    next_attempt_at: Date | null;
    created_at: Date;
    ended_at: Date | null;
  };
}
