/** The properties of a job that people see: nothing of leases, workers and limits. */
import type { Selectable } from "kysely";
import { Type } from "typebox";
import { Failure } from "../contract/failure.ts";
import type { JobRow } from "../contract/job.ts";
import { Id, Nullable, OneOf, StrictObject, Time } from "../contract/schemas.ts";
import {
  attemptStatuses,
  type Failure as FailureRow,
  jobStatuses,
  jobTypes,
  type Tables,
  triggers,
} from "../store/tables.ts";

export const logLevels = ["debug", "info", "warn", "error"] as const;
const streamStatuses = ["pending", "running", "complete", "incomplete"] as const;

const Count = Type.Integer({ minimum: 0 });

export const Job = StrictObject(
  {
    job_id: Id("job"),
    workspace_id: Id("workspace"),
    kind: OneOf(["sync", "reverse_etl"]),
    pipeline_id: Nullable(Id("pipeline")),
    connection_id: Nullable(Id("connection")),
    activation_id: Nullable(Id("activation", "Of which it is a run; null: it is a sync.")),
    job_type: OneOf(jobTypes),
    status: OneOf(jobStatuses, {
      description:
        "incomplete: an attempt has ended and another one follows. succeeded, failed and cancelled are final.",
    }),
    trigger: OneOf(triggers),
    attempt: Type.Integer({
      minimum: 0,
      description: "Of the attempt under way, or the last one; 0 before the first.",
    }),
    next_attempt_at: Nullable(Time),
    cancel_requested: Type.Boolean(),
    records_read: Count,
    records_synced: Type.Integer({ minimum: 0, description: "Rows that the destination has." }),
    records_deleted: Type.Integer({
      minimum: 0,
      description: "Rows that were marked or removed, because the source has them no more.",
    }),
    bytes_synced: Count,
    replication_lag_bytes: Nullable(
      Type.Integer({
        minimum: 0,
        description:
          "Bytes of its log of changes that the source's server keeps for the pipeline, as the job was told last. Null: it reads none.",
      }),
    ),
    failure: Nullable(Failure),
    created_at: Time,
    started_at: Nullable(Time),
    ended_at: Nullable(Time),
    updated_at: Time,
  },
  { title: "Job" },
);

export const Attempt = StrictObject(
  {
    attempt: Type.Integer({ minimum: 1 }),
    status: OneOf(attemptStatuses, {
      description:
        "lost: its worker died · released: its worker was asked to stop. Another one went on.",
    }),
    started_at: Time,
    ended_at: Nullable(Time),
    records_emitted: Count,
    records_committed: Count,
    records_deleted: Count,
    bytes: Count,
    failure: Nullable(Failure),
  },
  { title: "JobAttempt" },
);

export const StreamStats = StrictObject(
  {
    name: Type.String(),
    namespace: Nullable(Type.String()),
    status: OneOf(streamStatuses),
    records_emitted: Count,
    records_committed: Count,
    records_deleted: Count,
    bytes: Count,
    committed_at: Nullable(Time),
    failure: Nullable(Failure),
  },
  { title: "StreamStats" },
);

export const LogEntry = StrictObject(
  {
    index: Type.Integer({ minimum: 1 }),
    attempt: Type.Integer({ minimum: 1 }),
    at: Time,
    level: OneOf(logLevels),
    message: Type.String(),
    fields: Type.Record(
      Type.String(),
      Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()]),
    ),
  },
  { title: "JobLogEntry" },
);

const toTime = (date: Date | null) => date?.toISOString() ?? null;
const toFailure = (failure: FailureRow | null) => failure;

export const toJob = (row: JobRow) => ({
  job_id: row.id,
  workspace_id: row.workspace_id,
  kind: row.kind,
  pipeline_id: row.pipeline_id,
  connection_id: row.connection_id,
  activation_id: row.kind === "reverse_etl" ? row.subject_id : null,
  job_type: row.job_type,
  status: row.status,
  trigger: row.trigger,
  attempt: row.attempt,
  next_attempt_at: row.status === "incomplete" ? toTime(row.runnable_at) : null,
  cancel_requested: row.cancel_requested_at !== null,
  records_read: Number(row.records_emitted),
  records_synced: Number(row.records_committed),
  records_deleted: Number(row.records_deleted),
  bytes_synced: Number(row.bytes),
  replication_lag_bytes:
    row.replication_lag_bytes === null ? null : Number(row.replication_lag_bytes),
  failure: toFailure(row.failure),
  created_at: row.created_at.toISOString(),
  started_at: toTime(row.started_at),
  ended_at: toTime(row.ended_at),
  updated_at: row.updated_at.toISOString(),
});

export const toAttempt = (row: Selectable<Tables["job_attempts"]>) => ({
  attempt: row.attempt,
  status: row.status,
  started_at: row.started_at.toISOString(),
  ended_at: toTime(row.ended_at),
  records_emitted: Number(row.records_emitted),
  records_committed: Number(row.records_committed),
  records_deleted: Number(row.records_deleted),
  bytes: Number(row.bytes),
  failure: toFailure(row.failure),
});

export const toStreamStats = (row: Selectable<Tables["job_streams"]>) => ({
  name: row.name,
  namespace: row.namespace === "" ? null : row.namespace,
  status: row.status,
  records_emitted: Number(row.records_emitted),
  records_committed: Number(row.records_committed),
  records_deleted: Number(row.records_deleted),
  bytes: Number(row.bytes),
  committed_at: toTime(row.committed_at),
  failure: toFailure(row.failure),
});

export const toLogEntry = (row: Selectable<Tables["job_logs"]>) => ({
  index: row.index,
  attempt: row.attempt,
  at: row.at.toISOString(),
  level: row.level,
  message: row.message,
  fields: row.fields as Record<string, string | number | boolean | null>,
});
