import { destinationSyncModes } from "svc-connectors/host";
import { type Static, Type } from "typebox";
import { Failure } from "../contract/failure.ts";
import type { OperationContext } from "../contract/operation.ts";
import { Id, Name, Nullable, OneOf, StrictObject, Time, Version } from "../contract/schemas.ts";
import type { Db } from "../store/database.ts";
import { jobStatuses, jobTypes, pipelineStatuses } from "../store/tables.ts";
import { LeftAtSource, leftAtSource } from "./left-at-source.ts";
import { RowCondition, toFilterBody } from "./parts-of-streams.ts";
import { type LastJob, lastJobs, type PipelineRow, syncStateOf, syncStates } from "./rows.ts";
import { ScheduleBody } from "./schedule.ts";
import { schemaChangePolicies } from "./schema-changes.ts";
import { type AgreedStream, detectDeletes } from "./selection.ts";
import { loadAgreed } from "./streams.ts";
import { namespaceDefinitions, namingOf, type TableNaming, tableOf } from "./table-names.ts";

const Path = Type.Array(Type.String());

/** A stream of a pipeline. */
export const PipelineStream = StrictObject(
  {
    name: Type.String(),
    namespace: Nullable(Type.String()),
    sync_mode: OneOf(["full_refresh", "incremental"]),
    destination_sync_mode: OneOf(destinationSyncModes),
    cursor_field: Path,
    primary_key: Type.Array(Path),
    selected_fields: Nullable(Type.Array(Type.String())),
    detect_deletes: OneOf(detectDeletes, {
      description: "What becomes of rows that the source has no more.",
    }),
    hashed_fields: Nullable(Type.Array(Type.String())),
    row_filter: Nullable(Type.Array(RowCondition)),
    table: StrictObject(
      {
        schema: Nullable(
          Type.String({ description: "Null: the one of the destination's settings." }),
        ),
        name: Type.String(),
      },
      {
        description: "Where its rows are. A name that the destination cannot have is made to fit.",
      },
    ),
  },
  { title: "PipelineStream" },
);

export function toPipelineStream(
  naming: TableNaming,
  one: AgreedStream,
): Static<typeof PipelineStream> {
  const { schema = null, table } = tableOf(naming, one.stream);
  return {
    name: one.stream.name,
    namespace: one.stream.namespace ?? null,
    sync_mode: one.syncMode,
    destination_sync_mode: one.destinationSyncMode,
    cursor_field: [...one.cursorField],
    primary_key: one.primaryKey.map((path) => [...path]),
    selected_fields: one.selectedFields && [...one.selectedFields],
    detect_deletes: one.detectDeletes,
    hashed_fields: one.hashedFields && [...one.hashedFields],
    row_filter: one.rowFilter && toFilterBody(one.rowFilter),
    table: { schema, name: table },
  };
}

/** A job as its pipeline shows it. */
const LastJobData = StrictObject(
  {
    job_id: Id("job"),
    job_type: OneOf(jobTypes),
    status: OneOf(jobStatuses),
    failure: Nullable(Failure),
    created_at: Time,
    ended_at: Nullable(Time),
  },
  { title: "LastJob" },
);

export const pipelineFields = {
  pipeline_id: Id("pipeline"),
  connection_id: Id("connection"),
  workspace_id: Id("workspace"),
  name: Name,
  source_id: Id("source"),
  destination_id: Id("destination"),
  status: OneOf(pipelineStatuses),
  sync_state: OneOf(syncStates),
  schedule: ScheduleBody,
  next_run_at: Nullable(Time),
  prefix: Type.String(),
  namespace_definition: OneOf(namespaceDefinitions),
  namespace_format: Nullable(Type.String()),
  schema_change_policy: OneOf(schemaChangePolicies),
  parallel_streams: Type.Integer({ description: "Streams that are read at the same time." }),
  stream_count: Type.Integer(),
  pause_reason: Nullable(
    Type.String({
      description: "Why svc itself has paused it: resuming accepts what has changed.",
    }),
  ),
  last_job: Nullable(LastJobData),
  replication_lag_bytes: Nullable(
    Type.Integer({
      minimum: 0,
      description:
        "Bytes of its log of changes that the source's server keeps for the pipeline, as its last job was told. Null: it reads none.",
    }),
  ),
  created_at: Time,
  updated_at: Time,
  version: Version,
};

export const Pipeline = StrictObject(pipelineFields, { title: "Pipeline" });

export function toPipeline(row: PipelineRow, job: LastJob | undefined): Static<typeof Pipeline> {
  return {
    pipeline_id: row.id,
    connection_id: row.connection_id,
    workspace_id: row.workspace_id,
    name: row.name,
    source_id: row.source_id,
    destination_id: row.destination_id,
    status: row.status,
    sync_state: syncStateOf(row, job),
    schedule: row.schedule,
    next_run_at: row.next_run_at?.toISOString() ?? null,
    prefix: row.prefix,
    namespace_definition: row.namespace_definition,
    namespace_format: row.namespace_format,
    schema_change_policy: row.schema_change_policy,
    parallel_streams: row.parallel_streams,
    stream_count: row.stream_count,
    pause_reason: row.pause_reason,
    last_job: job
      ? {
          job_id: job.id,
          job_type: job.job_type,
          status: job.status,
          failure: job.failure,
          created_at: job.created_at.toISOString(),
          ended_at: job.ended_at?.toISOString() ?? null,
        }
      : null,
    replication_lag_bytes:
      row.replication_lag_bytes === null ? null : Number(row.replication_lag_bytes),
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    version: row.version,
  };
}

/** A pipeline with how it stands. */
export const describePipeline = async (
  db: Db,
  row: PipelineRow,
): Promise<Static<typeof Pipeline>> => toPipeline(row, (await lastJobs(db, [row.id])).get(row.id));

/** Streams that a pipeline shows of itself. */
const shownStreams = 200;

export const PipelineWithStreams = StrictObject(
  {
    ...pipelineFields,
    left_at_source: LeftAtSource,
    streams: Type.Array(PipelineStream, {
      description: `The first ${shownStreams}: GET /pipelines/{pipeline_id}/streams has all.`,
    }),
  },
  { title: "PipelineWithStreams" },
);

/** A pipeline with how it stands, and its first streams. */
export async function withStreams(
  ctx: Pick<OperationContext, "db" | "services" | "workspaceId">,
  row: PipelineRow,
): Promise<Static<typeof PipelineWithStreams>> {
  const streams = await loadAgreed(ctx.db, row.id, { limit: shownStreams });
  const naming = namingOf(row);
  return {
    ...(await describePipeline(ctx.db, row)),
    left_at_source: await leftAtSource(ctx, row),
    streams: streams.map((one) => toPipelineStream(naming, one)),
  };
}
