/** Models of reverse ETL: queries of a warehouse whose rows are sent elsewhere. */
import { type Static, Type } from "typebox";
import { createId } from "../contract/ids.ts";
import { defineRead, defineWrite, type OperationContext } from "../contract/operation.ts";
import { ControlError, refuseField } from "../contract/reasons.ts";
import {
  Id,
  IdInput,
  List,
  Name,
  namedListQuery,
  StrictObject,
  Time,
  workspaceInput,
} from "../contract/schemas.ts";
import { findDestination, lockDestination } from "../destinations/rows.ts";
import { readPage } from "../door/pages.ts";
import { PrimaryKey, queryPartsOf, queryProperties, tryQuery } from "../reverse-etl/model-parts.ts";
import { activationIds, findModel, lockRow, requireUnactivated } from "../reverse-etl/rows.ts";
import { Model, toModel } from "../reverse-etl/schemas.ts";
import { forgetRows } from "../reverse-etl/snapshots.ts";
import type { Db } from "../store/database.ts";

const modelParams = StrictObject({ modelId: IdInput("The model.") });
const ofWorkspace = StrictObject(workspaceInput);

/** Errors of trying a query. */
export const queryErrors = [
  "query_refused",
  "query_failed",
  "provider_refused",
  "provider_failed",
  "provider_timeout",
  "credential_not_usable",
  "credential_mismatch",
  "invalid_configuration",
] as const;

const shown = async (db: Db, workspaceId: string, id: string): Promise<Static<typeof Model>> => {
  const row = await findModel(db, workspaceId, id);
  return toModel(row, (await activationIds(db, workspaceId, "model_id", [id])).get(id) ?? []);
};

export const listModels = defineRead({
  id: "reverse_etl_model.list",
  area: "Reverse ETL",
  path: "/reverse-etl/models",
  summary: "List reverse ETL models",
  permission: "read",
  query: StrictObject(namedListQuery),
  data: List(Model),
  errors: ["invalid_cursor"],
  async run({ db, workspaceId }, { query: { limit = 50, cursor, search, sort } }) {
    const filters = { list: "reverse_etl_models", workspaceId };
    const rows = db
      .selectFrom("reverse_etl_models")
      .selectAll()
      .where("workspace_id", "=", workspaceId);
    const page = await readPage(rows, { cursor, limit, filters, search, sort });
    const ids = await activationIds(
      db,
      workspaceId,
      "model_id",
      page.items.map(({ id }) => id),
    );
    return { ...page, items: page.items.map((row) => toModel(row, ids.get(row.id) ?? [])) };
  },
});

export const getModel = defineRead({
  id: "reverse_etl_model.get",
  area: "Reverse ETL",
  path: "/reverse-etl/models/{modelId}",
  summary: "Get a reverse ETL model",
  permission: "read",
  params: modelParams,
  query: ofWorkspace,
  data: Model,
  errors: ["not_found"],
  run: ({ db, workspaceId }, { params }) => shown(db, workspaceId, params.modelId),
});

const CreateModel = StrictObject({
  ...workspaceInput,
  name: Name,
  warehouseId: IdInput("The warehouse: a destination of pipelines, of DuckDB or PostgreSQL."),
  ...queryProperties,
  primaryKey: PrimaryKey,
});
/** The former names of the warehouse's fields. */
const formerNames = { destinationId: "warehouseId", sourceId: "warehouseId" };

async function partsOfNew(ctx: OperationContext, body: Static<typeof CreateModel>) {
  const { name, warehouseId, workspace_id: _, ...entered } = body;
  await findDestination(ctx.db, ctx.workspaceId, warehouseId);
  return { name, warehouseId, query: queryPartsOf(entered) };
}

export const createModel = defineWrite({
  id: "reverse_etl_model.create",
  area: "Reverse ETL",
  method: "POST",
  path: "/reverse-etl/models",
  summary: "Create a reverse ETL model",
  description:
    "The query is tried with one row, read-only: its columns are what activations can map.",
  permission: "write",
  limit: "provider",
  status: 201,
  resource: "reverse_etl_model",
  category: "reverse_etl_config",
  isRepeatable: true,
  body: CreateModel,
  formerNames,
  data: Model,
  errors: ["not_found", "duplicate_field", ...queryErrors],
  guard: (ctx, { body }) => partsOfNew(ctx, body),
  async prepare(ctx, _input, parts) {
    return { ...parts, columns: await tryQuery(ctx, parts.warehouseId, parts.query) };
  },
  async commit(tx, { workspaceId, now }, _, { name, warehouseId, query, columns }) {
    await lockDestination(tx, workspaceId, warehouseId);
    const id = createId("model");
    await tx
      .insertInto("reverse_etl_models")
      .values({
        id,
        workspace_id: workspaceId,
        name,
        destination_id: warehouseId,
        ...query,
        columns: JSON.stringify(columns),
        created_at: now,
        updated_at: now,
      })
      .execute();
    return {
      data: await shown(tx, workspaceId, id),
      resourceId: id,
      location: `/reverse-etl/models/${id}`,
    };
  },
});

const UpdateModel = StrictObject({
  ...workspaceInput,
  name: Type.Optional(Name),
  warehouseId: Type.Optional(
    Type.Unknown({ description: "Refused: a model keeps its warehouse." }),
  ),
  ...queryProperties,
  primaryKey: Type.Optional(PrimaryKey),
});

/** The model as it will be; without `query` nothing changes that a query could show. */
async function partsOfChange(ctx: OperationContext, id: string, body: Static<typeof UpdateModel>) {
  const row = await findModel(ctx.db, ctx.workspaceId, id);
  ctx.expectVersion(row.version);
  const { name = row.name, warehouseId, workspace_id: _, ...query } = body;
  if (warehouseId !== undefined)
    throw refuseField("immutable_field", "warehouseId", "cannot be changed");
  const isQuery = Object.keys(query).length > 0;
  return {
    version: row.version,
    name,
    warehouseId: row.destination_id,
    query: isQuery ? queryPartsOf(query, row) : undefined,
  };
}

export const updateModel = defineWrite({
  id: "reverse_etl_model.update",
  area: "Reverse ETL",
  method: "PATCH",
  path: "/reverse-etl/models/{modelId}",
  summary: "Change a reverse ETL model",
  description:
    "A changed query is tried first. With another primary key, everything that destinations have confirmed is forgotten: the next runs send all rows.",
  permission: "write",
  limit: "provider",
  status: 200,
  resource: "reverse_etl_model",
  category: "reverse_etl_config",
  isRepeatable: true,
  params: modelParams,
  body: UpdateModel,
  formerNames,
  data: Model,
  errors: [
    "not_found",
    "duplicate_field",
    "immutable_field",
    "version_mismatch",
    "concurrent_change",
    ...queryErrors,
  ],
  guard: (ctx, { params, body }) => partsOfChange(ctx, params.modelId, body),
  asks: ({ query }) => query !== undefined,
  async prepare(ctx, _input, { query, ...parts }) {
    if (!query) return parts;
    return { ...parts, query, columns: await tryQuery(ctx, parts.warehouseId, query) };
  },
  async commit(tx, ctx, { params: { modelId: id } }, change) {
    const { workspaceId, now } = ctx;
    await lockRow(tx, "reverse_etl_models", workspaceId, id);
    const row = await findModel(tx, workspaceId, id);
    ctx.expectVersion(row.version);
    const { name } = change;
    const query =
      "columns" in change
        ? { ...change.query, columns: JSON.stringify(change.columns) }
        : undefined;
    if (query && row.version !== change.version)
      throw new ControlError("concurrent_change", { version: row.version });
    if (!query && name === row.name)
      return { data: await shown(tx, workspaceId, id), resourceId: id };
    await tx
      .updateTable("reverse_etl_models")
      .set({ name, ...query, updated_at: now, version: row.version + 1 })
      .where("workspace_id", "=", workspaceId)
      .where("id", "=", id)
      .execute();
    if (query && query.primary_key !== row.primary_key)
      for (const activation of (await activationIds(tx, workspaceId, "model_id", [id])).get(id) ??
        [])
        await forgetRows(tx, activation);
    return { data: await shown(tx, workspaceId, id), resourceId: id };
  },
});

export const deleteModel = defineWrite({
  id: "reverse_etl_model.delete",
  area: "Reverse ETL",
  method: "DELETE",
  path: "/reverse-etl/models/{modelId}",
  summary: "Delete a reverse ETL model",
  description: "Only once all of its activations are deleted.",
  permission: "write",
  status: 200,
  resource: "reverse_etl_model",
  category: "reverse_etl_config",
  isRepeatable: true,
  params: modelParams,
  query: ofWorkspace,
  data: StrictObject({ modelId: Id("model"), deleted: Type.Literal(true), deletedAt: Time }),
  errors: ["not_found", "model_has_activations", "version_mismatch"],
  async guard(ctx, { params }) {
    const row = await findModel(ctx.db, ctx.workspaceId, params.modelId);
    ctx.expectVersion(row.version);
    await requireUnactivated(ctx.db, ctx.workspaceId, "model_id", row.id);
  },
  async commit(tx, ctx, { params: { modelId: id } }) {
    const { workspaceId, now } = ctx;
    await lockRow(tx, "reverse_etl_models", workspaceId, id);
    ctx.expectVersion((await findModel(tx, workspaceId, id)).version);
    await requireUnactivated(tx, workspaceId, "model_id", id);
    await tx
      .deleteFrom("reverse_etl_models")
      .where("workspace_id", "=", workspaceId)
      .where("id", "=", id)
      .execute();
    return {
      data: { modelId: id, deleted: true as const, deletedAt: now.toISOString() },
      resourceId: id,
    };
  },
});

export const reverseEtlModelOperations = [
  listModels,
  getModel,
  createModel,
  updateModel,
  deleteModel,
];
