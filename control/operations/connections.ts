/**
 * Connections: what a pipeline has while it lives. They keep its source and its destination from
 * being deleted.
 */
import { type Static, Type } from "typebox";
import { defineRead, defineWrite } from "../contract/operation.ts";
import { notFound } from "../contract/reasons.ts";
import {
  Id,
  IdInput,
  List,
  Name,
  Nullable,
  namedListQuery,
  OneOf,
  StrictObject,
  Time,
  workspaceInput,
} from "../contract/schemas.ts";
import { readPage } from "../door/pages.ts";
import { requestCancel } from "../jobs/cancel.ts";
import { findOpenJob } from "../jobs/enqueue.ts";
import { LeftAtSource, leftAtSource } from "../pipelines/left-at-source.ts";
import { lockPipeline } from "../pipelines/rows.ts";
import type { Db } from "../store/database.ts";
import { pipelineStatuses } from "../store/tables.ts";

const Connection = StrictObject(
  {
    connection_id: Id("connection"),
    workspace_id: Id("workspace"),
    pipeline_id: Id("pipeline"),
    source_id: Id("source"),
    destination_id: Id("destination"),
    name: Name,
    status: OneOf(pipelineStatuses),
    created_at: Time,
  },
  { title: "Connection" },
);

const selectConnections = (db: Db, workspaceId: string) =>
  db
    .selectFrom("connections")
    .innerJoin("pipelines", "pipelines.id", "connections.pipeline_id")
    .select([
      "connections.id",
      "connections.workspace_id",
      "connections.pipeline_id",
      "connections.source_id",
      "pipelines.destination_id",
      "pipelines.name",
      "pipelines.status",
      "connections.created_at",
    ])
    .where("connections.workspace_id", "=", workspaceId);

type ConnectionRow = Awaited<
  ReturnType<ReturnType<typeof selectConnections>["executeTakeFirstOrThrow"]>
>;

const toConnection = ({ id, created_at, ...row }: ConnectionRow): Static<typeof Connection> => ({
  ...row,
  connection_id: id,
  created_at: created_at.toISOString(),
});

const connectionParams = StrictObject({ connection_id: IdInput("The connection.") });

export const listConnections = defineRead({
  id: "connection.list",
  area: "Pipelines",
  path: "/connections",
  summary: "List connections",
  permission: "read",
  query: StrictObject({
    ...namedListQuery,
    pipeline_id: Type.Optional(IdInput("Only the one of this pipeline.")),
    source_id: Type.Optional(IdInput("Only connections of this source.")),
    destination_id: Type.Optional(IdInput("Only connections to this destination.")),
  }),
  data: List(Connection),
  errors: ["invalid_cursor"],
  async run(
    { db, workspaceId },
    { query: { limit = 50, cursor, search, sort, pipeline_id, source_id, destination_id } },
  ) {
    const filters = { list: "connections", workspaceId, pipeline_id, source_id, destination_id };
    let rows = selectConnections(db, workspaceId);
    if (pipeline_id !== undefined) rows = rows.where("connections.pipeline_id", "=", pipeline_id);
    if (source_id !== undefined) rows = rows.where("connections.source_id", "=", source_id);
    if (destination_id !== undefined)
      rows = rows.where("connections.destination_id", "=", destination_id);
    const page = await readPage(
      rows,
      { cursor, limit, filters, search, sort },
      "connections",
      "pipelines",
    );
    return { ...page, items: page.items.map(toConnection) };
  },
});

/** @throws not_found */
async function findConnection(db: Db, workspaceId: string, id: string): Promise<ConnectionRow> {
  const row = await selectConnections(db, workspaceId)
    .where("connections.id", "=", id)
    .executeTakeFirst();
  if (!row) throw notFound("connection", id);
  return row;
}

export const getConnection = defineRead({
  id: "connection.get",
  area: "Pipelines",
  path: "/connections/{connection_id}",
  summary: "Get a connection",
  permission: "read",
  params: connectionParams,
  query: StrictObject(workspaceInput),
  data: Connection,
  errors: ["not_found"],
  run: async ({ db, workspaceId }, { params }) =>
    toConnection(await findConnection(db, workspaceId, params.connection_id)),
});

export const deleteConnection = defineWrite({
  id: "connection.delete",
  area: "Pipelines",
  method: "DELETE",
  path: "/connections/{connection_id}",
  summary: "Delete a connection",
  description:
    "And its pipeline with it. A job that is under way is cancelled. The tables at the destination stay.",
  permission: "write",
  status: 200,
  resource: "connection",
  category: "connection_delete",
  isRepeatable: true,
  params: connectionParams,
  query: StrictObject(workspaceInput),
  data: StrictObject({
    connection_id: Id("connection"),
    pipeline_id: Id("pipeline"),
    deleted: Type.Literal(true),
    cancelled_job_id: Nullable(Id("job")),
    left_at_source: LeftAtSource,
    deleted_at: Time,
  }),
  errors: ["not_found"],
  async guard(ctx, { params }) {
    await findConnection(ctx.db, ctx.workspaceId, params.connection_id);
  },
  async commit(tx, ctx, { params: { connection_id: id } }) {
    const { workspaceId, now } = ctx;
    const { pipeline_id } = await findConnection(tx, workspaceId, id);
    // Whoever makes a job of it holds this row too: after this there is none that would not be seen
    // here.
    await lockPipeline(tx, workspaceId, pipeline_id);
    const job = await findOpenJob(tx, pipeline_id);
    const isCancelled = job !== undefined && (await requestCancel(tx, job, now)) !== "ended";
    await tx
      .deleteFrom("connections")
      .where("workspace_id", "=", workspaceId)
      .where("id", "=", id)
      .execute();
    await tx.deleteFrom("pipeline_streams").where("pipeline_id", "=", pipeline_id).execute();
    await tx.deleteFrom("pipeline_catalogs").where("pipeline_id", "=", pipeline_id).execute();
    const deleted = await tx
      .updateTable("pipelines")
      .set((eb) => ({
        status: "deleted" as const,
        next_run_at: null,
        version: eb("version", "+", 1),
        updated_at: now,
      }))
      .where("id", "=", pipeline_id)
      .returningAll()
      .executeTakeFirstOrThrow();
    const data = {
      connection_id: id,
      pipeline_id,
      deleted: true as const,
      cancelled_job_id: isCancelled ? job.id : null,
      left_at_source: await leftAtSource({ ...ctx, db: tx }, deleted),
      deleted_at: now.toISOString(),
    };
    return { data, resourceId: id };
  },
});

export const connectionOperations = [listConnections, getConnection, deleteConnection];
