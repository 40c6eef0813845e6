/** Activations: which rows of a model go where, how, and when. */
import { type Static, Type } from "typebox";
import { createId } from "../contract/ids.ts";
import { defineRead, defineWrite } from "../contract/operation.ts";
import { ControlError } from "../contract/reasons.ts";
import {
  Id,
  IdInput,
  List,
  namedListQuery,
  StrictObject,
  Time,
  workspaceInput,
} from "../contract/schemas.ts";
import { readPage } from "../door/pages.ts";
import { nextRunAfter } from "../pipelines/schedule.ts";
import { checkPlanThere } from "../reverse-etl/activation-parts.ts";
import {
  CreateActivation,
  isElsewhere,
  partsOfChangedActivation,
  partsOfNewActivation,
  UpdateActivation,
} from "../reverse-etl/activation-requests.ts";
import { findActivation, findModel, findReverseDestination, lockRow } from "../reverse-etl/rows.ts";
import { Activation, type LastRun, toActivation } from "../reverse-etl/schemas.ts";
import { forgetRows } from "../reverse-etl/snapshots.ts";
import { requireNoRun } from "../reverse-etl/start.ts";
import type { Db } from "../store/database.ts";
import type { Schedule } from "../store/tables.ts";

const activationParams = StrictObject({ activationId: IdInput("The activation.") });
const ofWorkspace = StrictObject(workspaceInput);

/** Errors of an activation's plan. */
const planErrors = [
  "not_found",
  "duplicate_field",
  "invalid_mapping",
  "invalid_schedule",
  "provider_refused",
  "provider_failed",
  "provider_timeout",
  "credential_not_usable",
  "credential_mismatch",
  "invalid_configuration",
  "invalid_base_url",
] as const;

/** The last run of each, skipped ones too. */
async function lastRuns(db: Db, ids: readonly string[]): Promise<ReadonlyMap<string, LastRun>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom("reverse_etl_runs")
    .distinctOn("activation_id")
    .select(["activation_id", "id", "created_at", "status", "error"])
    .where("activation_id", "in", ids)
    .orderBy("activation_id")
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .execute();
  return new Map(rows.map((row) => [row.activation_id, row]));
}

const shown = async (db: Db, workspaceId: string, id: string): Promise<Static<typeof Activation>> =>
  toActivation(await findActivation(db, workspaceId, id), (await lastRuns(db, [id])).get(id));

export const listActivations = defineRead({
  id: "reverse_etl_activation.list",
  area: "Reverse ETL",
  path: "/reverse-etl/activations",
  summary: "List reverse ETL activations",
  permission: "read",
  query: StrictObject({
    ...namedListQuery,
    modelId: Type.Optional(IdInput("Only activations of this model.")),
    destinationId: Type.Optional(IdInput("Only activations to this destination.")),
  }),
  data: List(Activation),
  errors: ["invalid_cursor"],
  async run(
    { db, workspaceId },
    { query: { limit = 50, cursor, search, sort, modelId, destinationId } },
  ) {
    const filters = { list: "reverse_etl_activations", workspaceId, modelId, destinationId };
    let rows = db
      .selectFrom("reverse_etl_activations")
      .selectAll()
      .where("workspace_id", "=", workspaceId);
    if (modelId !== undefined) rows = rows.where("model_id", "=", modelId);
    if (destinationId !== undefined) rows = rows.where("destination_id", "=", destinationId);
    const page = await readPage(rows, { cursor, limit, filters, search, sort });
    const last = await lastRuns(
      db,
      page.items.map(({ id }) => id),
    );
    return { ...page, items: page.items.map((row) => toActivation(row, last.get(row.id))) };
  },
});

export const getActivation = defineRead({
  id: "reverse_etl_activation.get",
  area: "Reverse ETL",
  path: "/reverse-etl/activations/{activationId}",
  summary: "Get a reverse ETL activation",
  permission: "read",
  params: activationParams,
  query: ofWorkspace,
  data: Activation,
  errors: ["not_found"],
  run: ({ db, workspaceId }, { params }) => shown(db, workspaceId, params.activationId),
});

/** When it runs next by itself. */
const nextRun = (schedule: Schedule | null, status: string, now: Date): Date | null =>
  schedule && status === "active" ? nextRunAfter(schedule, now) : null;

export const createActivation = defineWrite({
  id: "reverse_etl_activation.create",
  area: "Reverse ETL",
  method: "POST",
  path: "/reverse-etl/activations",
  summary: "Create a reverse ETL activation",
  description:
    "The destination is asked whether it has the object and its fields. Nothing is sent before the first run.",
  permission: "write",
  limit: "provider",
  status: 201,
  resource: "reverse_etl_activation",
  category: "reverse_etl_config",
  isRepeatable: true,
  body: CreateActivation,
  data: Activation,
  errors: planErrors,
  guard: (ctx, { body }) => partsOfNewActivation(ctx, body),
  async prepare(ctx, _input, parts) {
    await checkPlanThere(ctx, parts.plan, parts.destination);
    return parts;
  },
  async commit(tx, { workspaceId, now }, _, { name, plan, schedule, status }) {
    // Neither can be deleted before this is written.
    await lockRow(tx, "reverse_etl_models", workspaceId, plan.modelId);
    await lockRow(tx, "reverse_etl_destinations", workspaceId, plan.destinationId);
    await findModel(tx, workspaceId, plan.modelId);
    await findReverseDestination(tx, workspaceId, plan.destinationId);
    const id = createId("activation");
    await tx
      .insertInto("reverse_etl_activations")
      .values({
        id,
        workspace_id: workspaceId,
        name,
        model_id: plan.modelId,
        destination_id: plan.destinationId,
        object: plan.object,
        operation: plan.operation,
        mappings: JSON.stringify(plan.mappings),
        schedule: schedule && JSON.stringify(schedule),
        next_run_at: nextRun(schedule, status, now),
        status,
        created_at: now,
        updated_at: now,
      })
      .execute();
    return {
      data: await shown(tx, workspaceId, id),
      resourceId: id,
      location: `/reverse-etl/activations/${id}`,
    };
  },
});

export const updateActivation = defineWrite({
  id: "reverse_etl_activation.update",
  area: "Reverse ETL",
  method: "PATCH",
  path: "/reverse-etl/activations/{activationId}",
  summary: "Change a reverse ETL activation",
  description:
    "Applies to the next run. With another object, operation or primary identifier, everything that was confirmed is forgotten: the next run sends all rows.",
  permission: "write",
  limit: "provider",
  status: 200,
  resource: "reverse_etl_activation",
  category: "reverse_etl_config",
  isRepeatable: true,
  params: activationParams,
  body: UpdateActivation,
  data: Activation,
  errors: ["immutable_field", "version_mismatch", "concurrent_change", ...planErrors],
  guard: (ctx, { params, body }) => partsOfChangedActivation(ctx, params.activationId, body),
  asks: (parts) => "plan" in parts,
  async prepare(ctx, _input, parts) {
    if ("plan" in parts) await checkPlanThere(ctx, parts.plan, parts.destination);
    return parts;
  },
  async commit(tx, ctx, { params: { activationId: id } }, parts) {
    const { workspaceId, now } = ctx;
    await lockRow(tx, "reverse_etl_activations", workspaceId, id);
    const row = await findActivation(tx, workspaceId, id);
    ctx.expectVersion(row.version);
    const plan = "plan" in parts ? parts.plan : undefined;
    if (plan && row.version !== parts.version)
      throw new ControlError("concurrent_change", { version: row.version });
    const { name = row.name, status = row.status, schedule = row.schedule } = parts;
    const isTimed = parts.schedule !== undefined || status !== row.status;
    if (!plan && !isTimed && name === row.name)
      return { data: await shown(tx, workspaceId, id), resourceId: id };
    await tx
      .updateTable("reverse_etl_activations")
      .set({
        name,
        status,
        schedule: schedule && JSON.stringify(schedule),
        updated_at: now,
        version: row.version + 1,
        next_run_at: isTimed ? nextRun(schedule, status, now) : undefined,
        object: plan?.object,
        operation: plan?.operation,
        mappings: plan && JSON.stringify(plan.mappings),
      })
      .where("workspace_id", "=", workspaceId)
      .where("id", "=", id)
      .execute();
    if (plan && isElsewhere(row, plan)) await forgetRows(tx, id);
    return { data: await shown(tx, workspaceId, id), resourceId: id };
  },
});

export const deleteActivation = defineWrite({
  id: "reverse_etl_activation.delete",
  area: "Reverse ETL",
  method: "DELETE",
  path: "/reverse-etl/activations/{activationId}",
  summary: "Delete a reverse ETL activation",
  description:
    "What was sent stays where it is, and its runs can still be read. Not while a run is under way.",
  permission: "write",
  status: 200,
  resource: "reverse_etl_activation",
  category: "reverse_etl_config",
  isRepeatable: true,
  params: activationParams,
  query: ofWorkspace,
  data: StrictObject({
    activationId: Id("activation"),
    deleted: Type.Literal(true),
    deletedAt: Time,
  }),
  errors: ["not_found", "run_in_progress", "version_mismatch"],
  async guard(ctx, { params }) {
    const row = await findActivation(ctx.db, ctx.workspaceId, params.activationId);
    ctx.expectVersion(row.version);
    await requireNoRun(ctx.db, row.id);
  },
  async commit(tx, ctx, { params: { activationId: id } }) {
    const { workspaceId, now } = ctx;
    await lockRow(tx, "reverse_etl_activations", workspaceId, id);
    ctx.expectVersion((await findActivation(tx, workspaceId, id)).version);
    await requireNoRun(tx, id);
    await tx
      .deleteFrom("reverse_etl_activations")
      .where("workspace_id", "=", workspaceId)
      .where("id", "=", id)
      .execute();
    return {
      data: { activationId: id, deleted: true as const, deletedAt: now.toISOString() },
      resourceId: id,
    };
  },
});

export const reverseEtlActivationOperations = [
  listActivations,
  getActivation,
  createActivation,
  updateActivation,
  deleteActivation,
];
