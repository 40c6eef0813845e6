/** Changing some streams of a pipeline without sending all. */
import { type Static, Type } from "typebox";
import { defineWrite, type OperationContext } from "../contract/operation.ts";
import { ControlError, refuseField } from "../contract/reasons.ts";
import { IdInput, StrictObject, workspaceInput } from "../contract/schemas.ts";
import { catalogOf, loadStreams, newestCatalog } from "../pipelines/catalogs.ts";
import { holdTables } from "../pipelines/free-tables.ts";
import { addedStreams, mergeStreams } from "../pipelines/merging.ts";
import { endsOf, holdEnds, type PipelineEnds } from "../pipelines/parts.ts";
import { withRestarts } from "../pipelines/restarts.ts";
import {
  findPipeline,
  lockPipeline,
  type PipelineRow,
  requireUnlocked,
} from "../pipelines/rows.ts";
import { PipelineWithStreams, withStreams } from "../pipelines/schemas.ts";
import {
  checkSelection,
  requireOwnTables,
  StreamBody,
  StreamName,
} from "../pipelines/selecting.ts";
import { loadSelection, type Selection, saveSelection } from "../pipelines/streams.ts";
import { namingOf } from "../pipelines/table-names.ts";

const UpdateStreams = StrictObject(
  {
    ...workspaceInput,
    streams: Type.Optional(
      Type.Array(StreamBody, {
        minItems: 1,
        description:
          "Those to be changed or added. Of one that the pipeline has, what is left out stays; of a new one, it is as suggested.",
      }),
    ),
    remove: Type.Optional(
      Type.Array(StreamName, {
        minItems: 1,
        description: "Those to be synced no more. Their tables stay.",
      }),
    ),
  },
  { title: "PipelineStreamsUpdate" },
);
type Changes = Static<typeof UpdateStreams>;

interface Found {
  readonly row: PipelineRow;
  readonly ends: PipelineEnds;
  readonly before: Selection;
  /** Whether the source is asked: a new stream is in no catalog that is known. */
  readonly asks: boolean;
}

async function changeOf(ctx: OperationContext, id: string, body: Changes): Promise<Found> {
  if (body.streams === undefined && body.remove === undefined)
    throw refuseField("validation_failed", "streams", "is missing: name streams, or remove some");
  if (body.streams) checkSelection({ streams: body.streams });
  const row = await findPipeline(ctx.db, ctx.workspaceId, id);
  ctx.expectVersion(row.version);
  requireUnlocked(row);
  const ends = await endsOf(ctx, row);
  const before = await loadSelection(ctx.db, row.id);
  const isAdding = addedStreams(before, body).length > 0;
  const known = isAdding ? await newestCatalog(ctx, ends.source) : undefined;
  const found = { row, ends, before };
  if (isAdding && !known) return { ...found, asks: true };
  merged(found, body, known ? await loadStreams(ctx.db, known.id) : []);
  return { ...found, asks: false };
}

/** @throws as mergeStreams · table_name_conflict */
function merged(
  { row, ends, before }: Omit<Found, "asks">,
  body: Changes,
  catalog: Awaited<ReturnType<typeof loadStreams>>,
): Selection {
  const naming = namingOf(row);
  const modes = ends.destinationManifest.syncModes;
  const after = mergeStreams(before, body, { catalog, modes, naming });
  requireOwnTables(naming, after.agreed);
  return { ...after, agreed: withRestarts({ ...before, naming }, { ...after, naming }) };
}

export const updatePipelineStreams = defineWrite({
  id: "pipeline.update_streams",
  area: "Pipelines",
  method: "PATCH",
  path: "/pipelines/{pipeline_id}/streams",
  summary: "Change some streams of a pipeline",
  description:
    "For the next job; streams that are not named stay as they are. One with another cursor, mode or key is read from the beginning. Only what is added is looked up in the source.",
  permission: "write",
  limit: "provider",
  status: 200,
  resource: "pipeline",
  category: "pipeline_change",
  isRepeatable: true,
  params: StrictObject({ pipeline_id: IdInput("The pipeline.") }),
  body: UpdateStreams,
  data: PipelineWithStreams,
  errors: [
    "not_found",
    "version_mismatch",
    "concurrent_change",
    "connector_disabled",
    "pipeline_locked",
    "stream_unknown",
    "sync_mode_unsupported",
    "table_limit_exceeded",
    "table_name_conflict",
    "table_in_use",
    "invalid_base_url",
    "invalid_configuration",
    "credential_mismatch",
    "credential_not_usable",
    "oauth_app_missing",
    "provider_refused",
    "provider_failed",
    "provider_timeout",
  ],
  guard: (ctx, { params, body }) => changeOf(ctx, params.pipeline_id, body),
  asks: ({ asks }) => asks,
  async prepare(ctx, { body }, found) {
    const isAdding = addedStreams(found.before, body).length > 0;
    const catalog = isAdding ? await catalogOf(ctx, found.ends.source) : undefined;
    return {
      ...found,
      selection: merged(found, body, catalog ? await loadStreams(ctx.db, catalog.id) : []),
    };
  },
  async commit(tx, ctx, { params: { pipeline_id: id } }, { row: before, ends, selection }) {
    const { workspaceId, now } = ctx;
    const row = await lockPipeline(tx, workspaceId, id);
    ctx.expectVersion(row.version);
    requireUnlocked(row);
    // The selection was made from the version before, and from the streams that it had then.
    if (row.version !== before.version || row.selection_version !== before.selection_version)
      throw new ControlError("concurrent_change", { version: row.version });
    await holdEnds(tx, ends);
    await tx
      .updateTable("pipelines")
      .set({ version: row.version + 1, updated_at: now })
      .where("workspace_id", "=", workspaceId)
      .where("id", "=", id)
      .execute();
    await holdTables(tx, { ...ends, pipelineId: id, naming: namingOf(row), ...selection });
    await saveSelection(tx, id, selection);
    return {
      data: await withStreams({ ...ctx, db: tx }, await findPipeline(tx, workspaceId, id)),
      resourceId: id,
    };
  },
});
