/** Pipelines: what of a source goes where, in which way, and when. */
import { Type } from "typebox";
import { defineRead } from "../contract/operation.ts";
import {
  IdInput,
  List,
  listQuery,
  namedListQuery,
  OneOf,
  StrictObject,
  workspaceInput,
} from "../contract/schemas.ts";
import { readCursor, readPage, toPage } from "../door/pages.ts";
import { findPipeline, lastJobs } from "../pipelines/rows.ts";
import {
  Pipeline,
  PipelineStream,
  PipelineWithStreams,
  toPipeline,
  toPipelineStream,
  withStreams,
} from "../pipelines/schemas.ts";
import { loadAgreed } from "../pipelines/streams.ts";
import { namingOf } from "../pipelines/table-names.ts";
import { pipelineStatuses } from "../store/tables.ts";

const pipelineParams = StrictObject({ pipeline_id: IdInput("The pipeline.") });

export const listPipelines = defineRead({
  id: "pipeline.list",
  area: "Pipelines",
  path: "/pipelines",
  summary: "List pipelines",
  description: "Deleted ones are listed only when their status is asked for.",
  permission: "read",
  query: StrictObject({
    ...namedListQuery,
    source_id: Type.Optional(IdInput("Only pipelines of this source.")),
    destination_id: Type.Optional(IdInput("Only pipelines to this destination.")),
    status: Type.Optional(OneOf(pipelineStatuses)),
  }),
  data: List(Pipeline),
  errors: ["invalid_cursor"],
  async run(
    { db, workspaceId },
    { query: { limit = 50, cursor, search, sort, source_id, destination_id, status } },
  ) {
    const filters = { list: "pipelines", workspaceId, source_id, destination_id, status };
    let rows = db.selectFrom("pipelines").selectAll().where("workspace_id", "=", workspaceId);
    rows =
      status === undefined
        ? rows.where("status", "!=", "deleted")
        : rows.where("status", "=", status);
    if (source_id !== undefined) rows = rows.where("source_id", "=", source_id);
    if (destination_id !== undefined) rows = rows.where("destination_id", "=", destination_id);
    const page = await readPage(rows, { cursor, limit, filters, search, sort });
    const jobs = await lastJobs(
      db,
      page.items.map(({ id }) => id),
    );
    return { ...page, items: page.items.map((row) => toPipeline(row, jobs.get(row.id))) };
  },
});

export const getPipeline = defineRead({
  id: "pipeline.get",
  area: "Pipelines",
  path: "/pipelines/{pipeline_id}",
  summary: "Get a pipeline",
  permission: "read",
  params: pipelineParams,
  query: StrictObject(workspaceInput),
  data: PipelineWithStreams,
  errors: ["not_found"],
  run: async (ctx, { params }) =>
    withStreams(ctx, await findPipeline(ctx.db, ctx.workspaceId, params.pipeline_id)),
});

export const listPipelineStreams = defineRead({
  id: "pipeline.streams",
  area: "Pipelines",
  path: "/pipelines/{pipeline_id}/streams",
  summary: "List the streams of a pipeline",
  permission: "read",
  params: pipelineParams,
  query: StrictObject(listQuery),
  data: List(PipelineStream),
  errors: ["not_found", "invalid_cursor"],
  async run({ db, workspaceId }, { params, query: { limit = 50, cursor } }) {
    const row = await findPipeline(db, workspaceId, params.pipeline_id);
    const filters = { list: "pipeline_streams", pipeline: row.id, version: row.version };
    // They have an order of their own and no date.
    const from = Number(readCursor(cursor, filters)?.id ?? 0);
    const found = await loadAgreed(db, row.id, { from, limit: limit + 1 });
    const positions = found.map((_, index) => ({
      id: String(from + index + 1),
      created_at: new Date(0),
    }));
    const { has_more, next_cursor } = toPage(positions, limit, filters);
    const naming = namingOf(row);
    return {
      items: found.slice(0, limit).map((one) => toPipelineStream(naming, one)),
      has_more,
      next_cursor,
    };
  },
});

export const pipelineOperations = [listPipelines, getPipeline, listPipelineStreams];
