/** Operations on a pipeline that exists: pause it, let it go on, run it now. */
import { Type } from "typebox";
import { requireEnabled } from "../connectors/registry.ts";
import { defineWrite, type OperationContext } from "../contract/operation.ts";
import { ControlError, refuseFields } from "../contract/reasons.ts";
import {
  Id,
  IdInput,
  Nullable,
  OneOf,
  StrictObject,
  Time,
  workspaceInput,
} from "../contract/schemas.ts";
import { requestCancel } from "../jobs/cancel.ts";
import { enqueueJob, findOpenJob } from "../jobs/enqueue.ts";
import { newSyncJob } from "../jobs/sync-job.ts";
import {
  findPipeline,
  lockPipeline,
  type PipelineRow,
  requireUnlocked,
} from "../pipelines/rows.ts";
import { nextRunAfter } from "../pipelines/schedule.ts";
import { describePipeline, pipelineFields } from "../pipelines/schemas.ts";
import { streamName, toDescriptor } from "../pipelines/selecting.ts";
import { identityOf } from "../pipelines/selection.ts";
import { loadAgreed } from "../pipelines/streams.ts";
import type { Db } from "../store/database.ts";
import { jobStatuses } from "../store/tables.ts";

const pipelineParams = StrictObject({ pipeline_id: IdInput("The pipeline.") });

const changed = Type.Boolean({ description: "False: it was so before." });

export const pausePipeline = defineWrite({
  id: "pipeline.pause",
  area: "Pipelines",
  method: "POST",
  path: "/pipelines/{pipeline_id}/pause",
  summary: "Pause a pipeline",
  description: "No new jobs begin. One that is under way goes on, unless cancel_running is set.",
  permission: "run",
  status: 200,
  resource: "pipeline",
  category: "pipeline_change",
  isRepeatable: true,
  params: pipelineParams,
  body: StrictObject({
    ...workspaceInput,
    cancel_running: Type.Optional(Type.Boolean({ default: false })),
  }),
  data: StrictObject({ ...pipelineFields, changed, cancelled_job_id: Nullable(Id("job")) }),
  errors: ["not_found", "pipeline_locked", "version_mismatch"],
  async guard(ctx, { params }) {
    const row = await findPipeline(ctx.db, ctx.workspaceId, params.pipeline_id);
    ctx.expectVersion(row.version);
    requireUnlocked(row);
  },
  async commit(tx, ctx, { params: { pipeline_id: id }, body }) {
    const row = await lockPipeline(tx, ctx.workspaceId, id);
    ctx.expectVersion(row.version);
    requireUnlocked(row);
    const isChanged = row.status === "active";
    const paused = isChanged
      ? await setStatus(tx, ctx, row, { status: "paused", next_run_at: null })
      : row;
    const cancelled_job_id = body.cancel_running ? await cancelOpenJob(tx, id, ctx.now) : null;
    return {
      data: { ...(await describePipeline(tx, paused)), changed: isChanged, cancelled_job_id },
      resourceId: id,
    };
  },
});

export const resumePipeline = defineWrite({
  id: "pipeline.resume",
  area: "Pipelines",
  method: "POST",
  path: "/pipelines/{pipeline_id}/resume",
  summary: "Resume a pipeline",
  description:
    "Its schedule counts from now. What svc has paused for a change of the source goes on with what has changed.",
  permission: "run",
  status: 200,
  resource: "pipeline",
  category: "pipeline_change",
  isRepeatable: true,
  params: pipelineParams,
  body: StrictObject(workspaceInput),
  data: StrictObject({ ...pipelineFields, changed }),
  errors: ["not_found", "pipeline_locked", "version_mismatch"],
  async guard(ctx, { params }) {
    const row = await findPipeline(ctx.db, ctx.workspaceId, params.pipeline_id);
    ctx.expectVersion(row.version);
    requireUnlocked(row);
  },
  async commit(tx, ctx, { params: { pipeline_id: id } }) {
    const row = await lockPipeline(tx, ctx.workspaceId, id);
    ctx.expectVersion(row.version);
    requireUnlocked(row);
    const isChanged = row.status === "paused";
    const next_run_at = nextRunAfter(row.schedule, ctx.now);
    const resumed = isChanged
      ? await setStatus(tx, ctx, row, { status: "active", next_run_at })
      : row;
    return {
      data: { ...(await describePipeline(tx, resumed)), changed: isChanged },
      resourceId: id,
    };
  },
});

const setStatus = (
  tx: Db,
  { now }: OperationContext,
  row: PipelineRow,
  change: { readonly status: PipelineRow["status"]; readonly next_run_at: Date | null },
): Promise<PipelineRow> =>
  tx
    .updateTable("pipelines")
    .set({ ...change, pause_reason: null, version: row.version + 1, updated_at: now })
    .where("id", "=", row.id)
    .where("workspace_id", "=", row.workspace_id)
    .returningAll()
    .executeTakeFirstOrThrow();

/** Gives the id of the job that ends now, or as soon as its worker has heard of it. */
async function cancelOpenJob(tx: Db, pipelineId: string, now: Date): Promise<string | null> {
  const job = await findOpenJob(tx, pipelineId);
  if (!job || (await requestCancel(tx, job, now)) === "ended") return null;
  return job.id;
}

const RunSync = StrictObject({
  ...workspaceInput,
  streams: Type.Optional(
    Type.Array(StrictObject(streamName), {
      minItems: 1,
      description: "Only these of the pipeline's streams.",
    }),
  ),
  full_refresh: Type.Optional(
    Type.Boolean({
      description:
        "Reads them from the beginning. The rows that people see stay until the new ones are there.",
    }),
  ),
});

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
  data: StrictObject({
    job: StrictObject({
      job_id: Id("job"),
      pipeline_id: Id("pipeline"),
      connection_id: Id("connection"),
      status: OneOf(jobStatuses),
      created_at: Time,
    }),
  }),
  errors: [
    "not_found",
    "sync_already_running",
    "pipeline_paused",
    "pipeline_locked",
    "connector_disabled",
    "stream_unknown",
  ],
  async guard(ctx, { params, body }) {
    const row = await findPipeline(ctx.db, ctx.workspaceId, params.pipeline_id);
    await requireRunnable(ctx.db, ctx, row);
    await requireStreams(ctx.db, row, body.streams);
    const open = await findOpenJob(ctx.db, row.id);
    if (open) throw new ControlError("sync_already_running", { job_id: open.id });
  },
  async commit(tx, ctx, { params: { pipeline_id: id }, body: { streams, full_refresh } }) {
    const { workspaceId, now, caller } = ctx;
    const row = await lockPipeline(tx, workspaceId, id);
    await requireRunnable(tx, ctx, row);
    await requireStreams(tx, row, streams);
    const options = {
      ...(streams ? { streams: streams.map(toDescriptor) } : {}),
      ...(full_refresh ? { full_refresh } : {}),
    };
    const trigger = caller.client === "api" ? "api" : "manual";
    const jobId = await enqueueJob(tx, await newSyncJob(tx, row, { trigger, options }), now);
    const job = {
      job_id: jobId,
      pipeline_id: id,
      connection_id: row.connection_id,
      status: "pending" as const,
      created_at: now.toISOString(),
    };
    return { data: { job }, resourceId: jobId, location: `/jobs/${jobId}` };
  },
  async announce({ services }, _input, data) {
    services.jobs.wake();
    return data;
  },
});

/** @throws pipeline_paused, pipeline_locked, connector_disabled */
async function requireRunnable(
  db: Db,
  { services }: OperationContext,
  row: PipelineRow,
): Promise<void> {
  requireUnlocked(row);
  if (row.status !== "active") throw new ControlError("pipeline_paused");
  for (const table of ["sources", "destinations"] as const) {
    const id = table === "sources" ? row.source_id : row.destination_id;
    const end = await db
      .selectFrom(table)
      .select("connector_id")
      .where("id", "=", id)
      .executeTakeFirstOrThrow();
    await requireEnabled(db, services.connectors.get(end.connector_id));
  }
}

/** @throws stream_unknown */
async function requireStreams(
  db: Db,
  { id }: PipelineRow,
  streams: readonly { readonly name: string; readonly namespace?: string | null }[] = [],
): Promise<void> {
  if (streams.length === 0) return;
  const known = new Set((await loadAgreed(db, id)).map(({ stream }) => identityOf(stream)));
  const faults = streams.flatMap((stream, index) =>
    known.has(identityOf(toDescriptor(stream)))
      ? []
      : [
          {
            path: `streams.${index}`,
            reason: "stream_unknown",
            message: "is no stream of the pipeline",
          },
        ],
  );
  if (faults.length > 0) throw refuseFields("stream_unknown", faults.slice(0, 20));
}

export const pipelineRunOperations = [pausePipeline, resumePipeline, runSync];
