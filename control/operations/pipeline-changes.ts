/** Making and changing pipelines. */
import { type Static, Type } from "typebox";
import { isEnabled } from "../connectors/registry.ts";
import { createId } from "../contract/ids.ts";
import { defineWrite, type OperationContext } from "../contract/operation.ts";
import { ControlError, refuseField } from "../contract/reasons.ts";
import { IdInput, Name, OneOf, StrictObject, workspaceInput } from "../contract/schemas.ts";
import { claimOf, holdTables, requireFreeTables } from "../pipelines/free-tables.ts";
import { holdOnlyReader, requireOnlyReader } from "../pipelines/only-reader.ts";
import {
  checkRequest,
  endsOf,
  holdEnds,
  namingFrom,
  namingProperties,
  ParallelStreams,
  type SelectionRequest,
  selectionOf,
  selectionProperties,
} from "../pipelines/parts.ts";
import { withRestarts } from "../pipelines/restarts.ts";
import {
  findPipeline,
  lockPipeline,
  type PipelineRow,
  requireUnlocked,
} from "../pipelines/rows.ts";
import {
  nextRunAfter,
  parseSchedule,
  requireFollowed,
  ScheduleBody,
} from "../pipelines/schedule.ts";
import { schemaChangePolicies } from "../pipelines/schema-changes.ts";
import { PipelineWithStreams, withStreams } from "../pipelines/schemas.ts";
import { requireOwnTables } from "../pipelines/selecting.ts";
import type { AgreedStream } from "../pipelines/selection.ts";
import { loadAgreed, loadSelection, type Selection, saveSelection } from "../pipelines/streams.ts";
import { namingOf } from "../pipelines/table-names.ts";
import type { Db } from "../store/database.ts";
import type { Schedule } from "../store/tables.ts";

/** Errors of a pipeline's selection, the asking of its source included. */
const partErrors = [
  "not_found",
  "connector_disabled",
  "invalid_schedule",
  "stream_unknown",
  "sync_mode_unsupported",
  "table_limit_exceeded",
  "table_name_conflict",
  "table_in_use",
  "source_in_use",
  "prepare_expired",
  "concurrent_change",
  "invalid_base_url",
  "invalid_configuration",
  "credential_mismatch",
  "credential_not_usable",
  "oauth_app_missing",
  "provider_refused",
  "provider_failed",
  "provider_timeout",
] as const;

const policyProperties = {
  schedule: Type.Optional(ScheduleBody),
  ...namingProperties,
  schema_change_policy: Type.Optional(
    OneOf(schemaChangePolicies, {
      description: "What to do when the source changes. Default propagate_columns.",
    }),
  ),
  parallel_streams: Type.Optional(ParallelStreams),
};

const CreatePipeline = StrictObject({
  ...workspaceInput,
  name: Type.Optional(Name),
  source_id: IdInput("The source."),
  destination_id: IdInput("The destination."),
  ...selectionProperties,
  ...policyProperties,
});

async function partsOfNew(ctx: OperationContext, body: Static<typeof CreatePipeline>) {
  const schedule = parseSchedule(body.schedule ?? { type: "manual" });
  const naming = namingFrom(body);
  return { schedule, naming, ends: await endsOf(ctx, body) };
}

export const createPipeline = defineWrite({
  id: "pipeline.create",
  area: "Pipelines",
  method: "POST",
  path: "/pipelines",
  summary: "Create a pipeline",
  description:
    "Makes the pipeline and its connection. Streams are checked against what prepare found, or what the source has now. The first job comes with the schedule, or with POST /pipelines/{pipeline_id}/sync.",
  permission: "write",
  limit: "provider",
  status: 201,
  resource: "pipeline",
  category: "pipeline_change",
  isRepeatable: true,
  body: CreatePipeline,
  data: PipelineWithStreams,
  errors: partErrors,
  async guard(ctx, { body }) {
    const parts = await partsOfNew(ctx, body);
    const { ends, naming } = parts;
    const known = await checkRequest(ctx, ends, body as SelectionRequest, naming);
    if (known.selection) {
      requireFollowed(parts.schedule, known.selection.agreed);
      await requireFreeTables(ctx.db, { ...ends, naming, agreed: known.selection.agreed });
    }
    await requireOnlyReader(ctx, ends.source);
    return { ...parts, isKnown: known.isKnown };
  },
  asks: ({ isKnown }) => !isKnown,
  async prepare(ctx, { body }, parts) {
    return {
      ...parts,
      selection: await selectionOf(ctx, parts.ends, body as SelectionRequest, parts.naming),
    };
  },
  async commit(tx, ctx, { body }, { ends, schedule, naming, selection }) {
    const { workspaceId, now } = ctx;
    const { source, destination } = ends;
    requireFollowed(schedule, selection.agreed);
    await holdEnds(tx, ends);
    for (const { connector_id } of [source, destination])
      if (!(await isEnabled(tx, connector_id)))
        throw new ControlError("connector_disabled", { connector_id });
    const [id, connectionId] = [createId("pipeline"), createId("connection")];
    await tx
      .insertInto("pipelines")
      .values({
        id,
        workspace_id: workspaceId,
        connection_id: connectionId,
        source_id: source.id,
        destination_id: destination.id,
        name: body.name ?? `${source.name} → ${destination.name}`.slice(0, 200),
        status: "active",
        schedule: JSON.stringify(schedule),
        next_run_at: nextRunAfter(schedule, now),
        prefix: naming.prefix,
        namespace_definition: naming.namespaceDefinition,
        namespace_format: naming.namespaceFormat,
        schema_change_policy: body.schema_change_policy ?? "propagate_columns",
        parallel_streams: body.parallel_streams,
        stream_count: selection.agreed.length,
        pause_reason: null,
        created_at: now,
        updated_at: now,
      })
      .execute();
    await tx
      .insertInto("connections")
      .values({
        id: connectionId,
        workspace_id: workspaceId,
        pipeline_id: id,
        source_id: source.id,
        destination_id: destination.id,
        created_at: now,
      })
      .execute();
    await holdOnlyReader({ ...ctx, db: tx }, { ...source, pipelineId: id });
    await holdTables(tx, { ...ends, naming, agreed: selection.agreed });
    await saveSelection(tx, id, selection);
    const data = await withStreams({ ...ctx, db: tx }, await findPipeline(tx, workspaceId, id));
    return { data, resourceId: id, location: `/pipelines/${id}` };
  },
});

const UpdatePipeline = StrictObject({
  ...workspaceInput,
  name: Type.Optional(Name),
  source_id: Type.Optional(Type.Unknown({ description: "Refused: a pipeline keeps its source." })),
  destination_id: Type.Optional(
    Type.Unknown({ description: "Refused: a pipeline keeps its destination." }),
  ),
  ...selectionProperties,
  ...policyProperties,
});

const isSelecting = (body: Static<typeof UpdatePipeline>) =>
  body.streams !== undefined || body.select_all !== undefined || body.prepare_id !== undefined;
const isNaming = (body: Static<typeof UpdatePipeline>) =>
  [body.prefix, body.namespace_definition, body.namespace_format].some((one) => one !== undefined);

/** The pipeline as it will be, as far as that can be told without asking its source. */
async function partsOfChange(
  ctx: OperationContext,
  id: string,
  body: Static<typeof UpdatePipeline>,
) {
  for (const field of ["source_id", "destination_id"] as const)
    if (body[field] !== undefined) throw refuseField("immutable_field", field, "cannot be changed");
  const row = await findPipeline(ctx.db, ctx.workspaceId, id);
  ctx.expectVersion(row.version);
  requireUnlocked(row);
  const schedule = body.schedule && parseSchedule(body.schedule);
  const naming = namingFrom(body, namingOf(row));
  const ends = isSelecting(body) ? await endsOf(ctx, row) : undefined;
  return { row, schedule, naming, ends };
}

/** As the pipeline will be: with a new schedule, with new streams, or both. */
async function requireFollowedAfter(
  db: Db,
  row: PipelineRow,
  schedule: Schedule | undefined,
  agreed: readonly AgreedStream[] | undefined,
): Promise<void> {
  const after = schedule ?? row.schedule;
  if (after.type !== "continuous" || (!schedule && !agreed)) return;
  requireFollowed(after, agreed ?? (await loadAgreed(db, row.id)));
}

/** Undefined: tables and streams stay as they are. */
async function selectionOfChange(
  ctx: OperationContext,
  body: Static<typeof UpdatePipeline>,
  { row, naming, ends }: Awaited<ReturnType<typeof partsOfChange>>,
): Promise<Selection | undefined> {
  if (!ends && !isNaming(body)) return undefined;
  const before = await loadSelection(ctx.db, row.id);
  const after = ends ? await selectionOf(ctx, ends, body as SelectionRequest, naming) : before;
  requireOwnTables(naming, after.agreed);
  return {
    ...after,
    agreed: withRestarts({ ...before, naming: namingOf(row) }, { ...after, naming }),
  };
}

export const updatePipeline = defineWrite({
  id: "pipeline.update",
  area: "Pipelines",
  method: "PATCH",
  path: "/pipelines/{pipeline_id}",
  summary: "Change a pipeline",
  description:
    "For the next job; an attempt that is under way goes on as it began. Streams take the place of those before. A stream with another cursor, mode, key or table is read from the beginning.",
  permission: "write",
  limit: "provider",
  status: 200,
  resource: "pipeline",
  category: "pipeline_change",
  isRepeatable: true,
  params: StrictObject({ pipeline_id: IdInput("The pipeline.") }),
  body: UpdatePipeline,
  data: PipelineWithStreams,
  errors: ["immutable_field", "version_mismatch", "pipeline_locked", ...partErrors],
  async guard(ctx, { params, body }) {
    const parts = await partsOfChange(ctx, params.pipeline_id, body);
    const { row, ends, naming } = parts;
    const known = ends
      ? await checkRequest(ctx, ends, body as SelectionRequest, naming)
      : {
          isKnown: true,
          selection: isNaming(body) ? await loadSelection(ctx.db, row.id) : undefined,
        };
    if (!ends || known.selection)
      await requireFollowedAfter(ctx.db, row, parts.schedule, known.selection?.agreed);
    if (known.selection)
      await requireFreeTables(ctx.db, await claimOf(ctx, row, naming, known.selection));
    return { ...parts, isKnown: known.isKnown };
  },
  asks: ({ isKnown }) => !isKnown,
  async prepare(ctx, { body }, parts) {
    return { ...parts, selection: await selectionOfChange(ctx, body, parts) };
  },
  async commit(
    tx,
    ctx,
    { params: { pipeline_id: id }, body },
    { row: before, schedule, naming, ends, selection },
  ) {
    const { workspaceId, now } = ctx;
    const row = await lockPipeline(tx, workspaceId, id);
    ctx.expectVersion(row.version);
    requireUnlocked(row);
    // The selection was made from the version before.
    if (selection && row.version !== before.version)
      throw new ControlError("concurrent_change", { version: row.version });
    if (ends) await holdEnds(tx, ends);
    await requireFollowedAfter(tx, row, schedule, selection?.agreed);
    const { name, schema_change_policy, parallel_streams } = body;
    const plain = { name, schema_change_policy, parallel_streams };
    if (!selection && !schedule && Object.values(plain).every((value) => value === undefined))
      return { data: await withStreams({ ...ctx, db: tx }, row), resourceId: id };
    await tx
      .updateTable("pipelines")
      .set({
        version: row.version + 1,
        updated_at: now,
        ...plain,
        ...(schedule && {
          schedule: JSON.stringify(schedule),
          next_run_at: row.status === "active" ? nextRunAfter(schedule, now) : null,
        }),
        prefix: naming.prefix,
        namespace_definition: naming.namespaceDefinition,
        namespace_format: naming.namespaceFormat,
      })
      .where("workspace_id", "=", workspaceId)
      .where("id", "=", id)
      .execute();
    if (selection) {
      await holdTables(tx, await claimOf({ ...ctx, db: tx }, row, naming, selection));
      await saveSelection(tx, id, selection);
    }
    return {
      data: await withStreams({ ...ctx, db: tx }, await findPipeline(tx, workspaceId, id)),
      resourceId: id,
    };
  },
});

export const pipelineChangeOperations = [createPipeline, updatePipeline];
