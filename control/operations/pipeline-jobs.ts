/** Jobs of a pipeline that somebody asks for: to sync it now, to empty its tables, or both. */
import { type Static, Type } from "typebox";
import { requireEnabled } from "../connectors/registry.ts";
import { defineWrite, type OperationContext } from "../contract/operation.ts";
import { ControlError, type Reason, refuseFields } from "../contract/reasons.ts";
import { Id, IdInput, OneOf, StrictObject, Time, workspaceInput } from "../contract/schemas.ts";
import { enqueueJob, findOpenJob } from "../jobs/enqueue.ts";
import { newSyncJob, type SyncOptions } from "../jobs/sync-job.ts";
import {
  findPipeline,
  lockPipeline,
  type PipelineRow,
  requireUnlocked,
} from "../pipelines/rows.ts";
import { StreamName, toDescriptor } from "../pipelines/selecting.ts";
import { loadAgreed } from "../pipelines/streams.ts";
import { unknownStreams } from "../pipelines/unknown-streams.ts";
import type { Db } from "../store/database.ts";
import { jobStatuses, type Tables } from "../store/tables.ts";

const pipelineParams = StrictObject({ pipeline_id: IdInput("The pipeline.") });

const choice = {
  ...workspaceInput,
  streams: Type.Optional(
    Type.Array(StreamName, {
      minItems: 1,
      description: "Only these of the pipeline's streams.",
    }),
  ),
};

const StreamChoice = StrictObject(choice, { title: "StreamChoice" });

const MadeJob = StrictObject(
  {
    job: StrictObject({
      job_id: Id("job"),
      pipeline_id: Id("pipeline"),
      connection_id: Id("connection"),
      status: OneOf(jobStatuses),
      created_at: Time,
    }),
  },
  { title: "MadeJob" },
);

const refusals: readonly Reason[] = [
  "not_found",
  "sync_already_running",
  "pipeline_locked",
  "connector_disabled",
  "stream_unknown",
];

type JobType = Tables["jobs"]["job_type"];

/** The ends of a pipeline that a job of each type uses. */
const endsOf = (type: JobType) =>
  type === "clear" ? (["destinations"] as const) : (["sources", "destinations"] as const);

/**
 * Refuses what cannot be run now. A paused pipeline reads nothing; it may be cleared.
 * @throws pipeline_paused, pipeline_locked, connector_disabled, stream_unknown
 */
async function requireRunnable(
  db: Db,
  { services }: OperationContext,
  row: PipelineRow,
  type: JobType,
  { streams }: SyncOptions,
): Promise<void> {
  requireUnlocked(row);
  if (row.status !== "active" && type !== "clear") throw new ControlError("pipeline_paused");
  for (const table of endsOf(type)) {
    const id = table === "sources" ? row.source_id : row.destination_id;
    const end = await db
      .selectFrom(table)
      .select("connector_id")
      .where("id", "=", id)
      .executeTakeFirstOrThrow();
    await requireEnabled(db, services.connectors.get(end.connector_id));
  }
  await requireStreams(db, row, streams);
}

/** @throws stream_unknown */
async function requireStreams(
  db: Db,
  { id }: PipelineRow,
  streams: readonly { readonly name: string; readonly namespace?: string | null }[] = [],
): Promise<void> {
  if (streams.length === 0) return;
  const known = (await loadAgreed(db, id)).map(({ stream }) => stream);
  const faults = unknownStreams(streams, known, { owner: "the pipeline" });
  if (faults.length > 0) throw refuseFields("stream_unknown", faults.slice(0, 20));
}

/** Refuses what can be refused before the job is made. */
async function checkJob(
  ctx: OperationContext,
  id: string,
  type: JobType,
  options: SyncOptions,
): Promise<void> {
  const row = await findPipeline(ctx.db, ctx.workspaceId, id);
  await requireRunnable(ctx.db, ctx, row, type, options);
  const open = await findOpenJob(ctx.db, row.id);
  if (open) throw new ControlError("sync_already_running", { job_id: open.id });
}

async function makeJob(
  tx: Db,
  ctx: OperationContext,
  id: string,
  type: JobType,
  options: SyncOptions,
) {
  const { workspaceId, now, caller } = ctx;
  const row = await lockPipeline(tx, workspaceId, id);
  await requireRunnable(tx, ctx, row, type, options);
  const trigger = caller.client === "api" ? "api" : "manual";
  const made = await newSyncJob(tx, row, { trigger, options, jobType: type });
  const jobId = await enqueueJob(tx, made, now);
  const job = {
    job_id: jobId,
    pipeline_id: id,
    connection_id: row.connection_id,
    status: "pending" as const,
    created_at: now.toISOString(),
  };
  return { data: { job }, resourceId: jobId, location: `/jobs/${jobId}` };
}

const wake = async (
  { services }: OperationContext,
  _input: unknown,
  data: Static<typeof MadeJob>,
) => {
  services.jobs.wake();
  return data;
};

const chosen = ({
  streams,
}: {
  readonly streams?: readonly { name: string; namespace?: string | null }[];
}): SyncOptions => (streams ? { streams: streams.map(toDescriptor) } : {});

const RunSync = StrictObject({
  ...choice,
  full_refresh: Type.Optional(
    Type.Boolean({
      description:
        "Reads them from the beginning. The rows that people see stay until the new ones are there.",
    }),
  ),
  confirm_deletes: Type.Optional(
    Type.Boolean({
      description:
        "With detect_deletes: rows that the source has no more are deleted ones, however many they are. Otherwise more than half of a table's rows are refused.",
    }),
  ),
});

const syncOptions = (body: Static<typeof RunSync>): SyncOptions => ({
  ...chosen(body),
  ...(body.full_refresh ? { full_refresh: true } : {}),
  ...(body.confirm_deletes ? { confirm_deletes: true } : {}),
});
const syncType = ({ full_refresh }: Static<typeof RunSync>) => (full_refresh ? "refresh" : "sync");

export const runSync = defineWrite({
  id: "pipeline.sync",
  area: "Pipelines",
  method: "POST",
  path: "/pipelines/{pipeline_id}/sync",
  summary: "Run a sync now",
  description: "Makes a job, which GET /jobs/{job_id} shows.",
  permission: "run",
  status: 202,
  resource: "job",
  category: "sync_run",
  params: pipelineParams,
  body: RunSync,
  data: MadeJob,
  errors: ["pipeline_paused", ...refusals],
  guard: (ctx, { params, body }) =>
    checkJob(ctx, params.pipeline_id, syncType(body), syncOptions(body)),
  commit: (tx, ctx, { params, body }) =>
    makeJob(tx, ctx, params.pipeline_id, syncType(body), syncOptions(body)),
  announce: wake,
});

export const clearPipeline = defineWrite({
  id: "pipeline.clear",
  area: "Pipelines",
  method: "POST",
  path: "/pipelines/{pipeline_id}/clear",
  summary: "Clear a pipeline, or some of its streams",
  description:
    "Makes a job that empties the tables and forgets how far they were read; the next sync reads from the beginning. The source is not asked. A paused pipeline can be cleared too. Tables of streams that the pipeline does not sync any more stay.",
  permission: "write",
  status: 202,
  resource: "job",
  category: "sync_run",
  params: pipelineParams,
  body: StreamChoice,
  data: MadeJob,
  errors: refusals,
  guard: (ctx, { params, body }) => checkJob(ctx, params.pipeline_id, "clear", chosen(body)),
  commit: (tx, ctx, { params, body }) =>
    makeJob(tx, ctx, params.pipeline_id, "clear", chosen(body)),
  announce: wake,
});

export const resetPipeline = defineWrite({
  id: "pipeline.reset",
  area: "Pipelines",
  method: "POST",
  path: "/pipelines/{pipeline_id}/reset",
  summary: "Reset a pipeline, or some of its streams",
  description:
    "Makes a job that empties the tables and then reads everything anew. To keep the old rows until the new ones are there, sync with full_refresh instead.",
  permission: "write",
  status: 202,
  resource: "job",
  category: "sync_run",
  params: pipelineParams,
  body: StreamChoice,
  data: MadeJob,
  errors: ["pipeline_paused", ...refusals],
  guard: (ctx, { params, body }) => checkJob(ctx, params.pipeline_id, "reset", anew(body)),
  commit: (tx, ctx, { params, body }) => makeJob(tx, ctx, params.pipeline_id, "reset", anew(body)),
  announce: wake,
});

const anew = (body: Parameters<typeof chosen>[0]): SyncOptions => ({
  ...chosen(body),
  full_refresh: true,
});

export const pipelineJobOperations = [runSync, clearPipeline, resetPipeline];
