/** Pausing a pipeline, and letting it go on. */
import { Type } from "typebox";
import { defineWrite, type OperationContext } from "../contract/operation.ts";
import { Id, IdInput, Nullable, StrictObject, workspaceInput } from "../contract/schemas.ts";
import { requestCancel } from "../jobs/cancel.ts";
import { findOpenJob } from "../jobs/enqueue.ts";
import { claimOf, holdTables, requireFreeTables } from "../pipelines/free-tables.ts";
import { LeftAtSource, leftAtSource } from "../pipelines/left-at-source.ts";
import { holdOnlyReader, requireOnlyReader } from "../pipelines/only-reader.ts";
import {
  findPipeline,
  lockPipeline,
  type PipelineRow,
  requireUnlocked,
} from "../pipelines/rows.ts";
import { nextRunAfter } from "../pipelines/schedule.ts";
import { describePipeline, pipelineFields } from "../pipelines/schemas.ts";
import { loadAgreed } from "../pipelines/streams.ts";
import { namingOf } from "../pipelines/table-names.ts";
import { findSource } from "../sources/rows.ts";
import type { Db } from "../store/database.ts";

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
  data: StrictObject({
    ...pipelineFields,
    left_at_source: LeftAtSource,
    changed,
    cancelled_job_id: Nullable(Id("job")),
  }),
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
      data: {
        ...(await describePipeline(tx, paused)),
        left_at_source: await leftAtSource({ ...ctx, db: tx }, paused),
        changed: isChanged,
        cancelled_job_id,
      },
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
  errors: ["not_found", "pipeline_locked", "version_mismatch", "table_in_use", "source_in_use"],
  async guard(ctx, { params }) {
    const row = await findPipeline(ctx.db, ctx.workspaceId, params.pipeline_id);
    ctx.expectVersion(row.version);
    requireUnlocked(row);
    if (row.status !== "paused") return;
    await requireOnlyReader(ctx, await readingOf(ctx, row));
    await requireFreeTables(ctx.db, await tablesOf(ctx, row));
  },
  async commit(tx, ctx, { params: { pipeline_id: id } }) {
    const row = await lockPipeline(tx, ctx.workspaceId, id);
    ctx.expectVersion(row.version);
    requireUnlocked(row);
    const isChanged = row.status === "paused";
    if (isChanged) {
      const within = { ...ctx, db: tx };
      await holdOnlyReader(within, await readingOf(within, row));
      await holdTables(tx, await tablesOf(within, row));
    }
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

/** The source that it will read again. */
const readingOf = async ({ db }: Pick<OperationContext, "db">, row: PipelineRow) => ({
  ...(await findSource(db, row.workspace_id, row.source_id)),
  pipelineId: row.id,
});

/** The tables to which it will write again. */
const tablesOf = async (ctx: Pick<OperationContext, "db" | "services">, row: PipelineRow) =>
  claimOf(ctx, row, namingOf(row), { agreed: await loadAgreed(ctx.db, row.id) });

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

export const pipelineRunOperations = [pausePipeline, resumePipeline];
