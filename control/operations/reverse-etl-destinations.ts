/**
 * Destinations of reverse ETL: where rows of models are sent, seen working before they are saved.
 */
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
import { tryReverseDestination } from "../reverse-etl/destination-parts.ts";
import {
  CreateReverseDestination,
  partsOfChangedDestination,
  partsOfNewDestination,
  UpdateReverseDestination,
} from "../reverse-etl/destination-requests.ts";
import {
  activationIds,
  findReverseDestination,
  lockRow,
  requireUnactivated,
  selectReverseDestinations,
} from "../reverse-etl/rows.ts";
import { ReverseDestination, toReverseDestination } from "../reverse-etl/schemas.ts";
import { holdCredential } from "../sources/rows.ts";
import type { Db } from "../store/database.ts";

const destinationParams = StrictObject({ destinationId: IdInput("The reverse ETL destination.") });
const ofWorkspace = StrictObject(workspaceInput);

/** Errors of the parts of a destination. */
const partErrors = [
  "not_found",
  "duplicate_field",
  "connector_disabled",
  "secret_not_allowed",
  "invalid_base_url",
  "invalid_configuration",
  "credential_mismatch",
  "connection_check_failed",
  "credential_not_usable",
] as const;

const shown = async (
  db: Db,
  workspaceId: string,
  id: string,
): Promise<Static<typeof ReverseDestination>> => {
  const row = await findReverseDestination(db, workspaceId, id);
  return toReverseDestination(
    row,
    (await activationIds(db, workspaceId, "destination_id", [id])).get(id) ?? [],
  );
};

export const listReverseDestinations = defineRead({
  id: "reverse_etl_destination.list",
  area: "Reverse ETL",
  path: "/reverse-etl/destinations",
  summary: "List reverse ETL destinations",
  permission: "read",
  query: StrictObject(namedListQuery),
  data: List(ReverseDestination),
  errors: ["invalid_cursor"],
  async run({ db, workspaceId }, { query: { limit = 50, cursor, search, sort } }) {
    const filters = { list: "reverse_etl_destinations", workspaceId };
    const rows = selectReverseDestinations(db, workspaceId);
    const page = await readPage(
      rows,
      { cursor, limit, filters, search, sort },
      "reverse_etl_destinations",
    );
    const ids = await activationIds(
      db,
      workspaceId,
      "destination_id",
      page.items.map(({ id }) => id),
    );
    return {
      ...page,
      items: page.items.map((row) => toReverseDestination(row, ids.get(row.id) ?? [])),
    };
  },
});

export const getReverseDestination = defineRead({
  id: "reverse_etl_destination.get",
  area: "Reverse ETL",
  path: "/reverse-etl/destinations/{destinationId}",
  summary: "Get a reverse ETL destination",
  permission: "read",
  params: destinationParams,
  query: ofWorkspace,
  data: ReverseDestination,
  errors: ["not_found"],
  run: ({ db, workspaceId }, { params }) => shown(db, workspaceId, params.destinationId),
});

export const createReverseDestination = defineWrite({
  id: "reverse_etl_destination.create",
  area: "Reverse ETL",
  method: "POST",
  path: "/reverse-etl/destinations",
  summary: "Create a reverse ETL destination",
  description:
    "webhook: configuration.url, a credential of conn_webhook · postgres: the settings of a PostgreSQL source, its credential · mailer: configuration.base_url, the mailer's credential. Tests the connection first: when it fails, nothing is saved.",
  permission: "write",
  limit: "provider",
  status: 201,
  resource: "reverse_etl_destination",
  category: "reverse_etl_config",
  isRepeatable: true,
  body: CreateReverseDestination,
  data: ReverseDestination,
  errors: partErrors,
  guard: (ctx, { body }) => partsOfNewDestination(ctx, body),
  async prepare(ctx, _input, parts) {
    await tryReverseDestination(ctx, parts.target, parts.name);
    return parts;
  },
  async commit(tx, { workspaceId, now }, _, { name, target }) {
    if (target.credential) await holdCredential(tx, target.credential, target.baseUrl);
    const id = createId("reverseDestination");
    await tx
      .insertInto("reverse_etl_destinations")
      .values({
        id,
        workspace_id: workspaceId,
        name,
        type: target.type,
        credential_id: target.credential?.id ?? null,
        configuration: JSON.stringify(target.configuration),
        created_at: now,
        updated_at: now,
      })
      .execute();
    return {
      data: await shown(tx, workspaceId, id),
      resourceId: id,
      location: `/reverse-etl/destinations/${id}`,
    };
  },
});

export const updateReverseDestination = defineWrite({
  id: "reverse_etl_destination.update",
  area: "Reverse ETL",
  method: "PATCH",
  path: "/reverse-etl/destinations/{destinationId}",
  summary: "Change a reverse ETL destination",
  description:
    "Whatever changes more than the name is tested first. What was confirmed at the old place counts as confirmed: run with fullResync when it is another one.",
  permission: "write",
  limit: "provider",
  status: 200,
  resource: "reverse_etl_destination",
  category: "reverse_etl_config",
  isRepeatable: true,
  params: destinationParams,
  body: UpdateReverseDestination,
  data: ReverseDestination,
  errors: ["immutable_field", "version_mismatch", "concurrent_change", ...partErrors],
  guard: (ctx, { params, body }) => partsOfChangedDestination(ctx, params.destinationId, body),
  asks: ({ target }) => target !== undefined,
  async prepare(ctx, _input, change) {
    if (change.target) await tryReverseDestination(ctx, change.target, change.name);
    return change;
  },
  async commit(tx, ctx, { params: { destinationId: id } }, { name, version, target }) {
    const { workspaceId, now } = ctx;
    await lockRow(tx, "reverse_etl_destinations", workspaceId, id);
    const row = await findReverseDestination(tx, workspaceId, id);
    ctx.expectVersion(row.version);
    if (target && row.version !== version)
      throw new ControlError("concurrent_change", { version: row.version });
    if (target?.credential) await holdCredential(tx, target.credential, target.baseUrl);
    if (!target && name === row.name)
      return { data: await shown(tx, workspaceId, id), resourceId: id };
    await tx
      .updateTable("reverse_etl_destinations")
      .set({
        name,
        version: row.version + 1,
        updated_at: now,
        ...(target && {
          credential_id: target.credential?.id ?? null,
          configuration: JSON.stringify(target.configuration),
        }),
      })
      .where("workspace_id", "=", workspaceId)
      .where("id", "=", id)
      .execute();
    return { data: await shown(tx, workspaceId, id), resourceId: id };
  },
});

export const deleteReverseDestination = defineWrite({
  id: "reverse_etl_destination.delete",
  area: "Reverse ETL",
  method: "DELETE",
  path: "/reverse-etl/destinations/{destinationId}",
  summary: "Delete a reverse ETL destination",
  description:
    "Only once all of its activations are deleted. What was sent there stays, and so does its credential.",
  permission: "write",
  status: 200,
  resource: "reverse_etl_destination",
  category: "reverse_etl_config",
  isRepeatable: true,
  params: destinationParams,
  query: ofWorkspace,
  data: StrictObject({
    destinationId: Id("reverseDestination"),
    deleted: Type.Literal(true),
    deletedAt: Time,
  }),
  errors: ["not_found", "destination_has_activations", "version_mismatch"],
  async guard(ctx, { params }) {
    const row = await findReverseDestination(ctx.db, ctx.workspaceId, params.destinationId);
    ctx.expectVersion(row.version);
    await requireUnactivated(ctx.db, ctx.workspaceId, "destination_id", row.id);
  },
  async commit(tx, ctx, { params: { destinationId: id } }) {
    const { workspaceId, now } = ctx;
    await lockRow(tx, "reverse_etl_destinations", workspaceId, id);
    ctx.expectVersion((await findReverseDestination(tx, workspaceId, id)).version);
    await requireUnactivated(tx, workspaceId, "destination_id", id);
    await tx
      .deleteFrom("reverse_etl_destinations")
      .where("workspace_id", "=", workspaceId)
      .where("id", "=", id)
      .execute();
    return {
      data: { destinationId: id, deleted: true as const, deletedAt: now.toISOString() },
      resourceId: id,
    };
  },
});

export const reverseEtlDestinationOperations = [
  listReverseDestinations,
  getReverseDestination,
  createReverseDestination,
  updateReverseDestination,
  deleteReverseDestination,
];
