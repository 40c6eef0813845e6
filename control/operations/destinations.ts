/** Destinations: where rows are kept for people to query, seen working before they are saved. */
import type { JsonObject } from "svc-connectors/host";
import { type Static, Type } from "typebox";
import { isEnabled, namedConnector } from "../connectors/registry.ts";
import { createId } from "../contract/ids.ts";
import { defineRead, defineWrite, type OperationContext } from "../contract/operation.ts";
import { ControlError, refuseField } from "../contract/reasons.ts";
import {
  Handle,
  Id,
  IdInput,
  List,
  Name,
  namedListQuery,
  StrictObject,
  Time,
  workspaceInput,
} from "../contract/schemas.ts";
import { findByHandle, findCredential } from "../credentials/rows.ts";
import { tryDestination } from "../destinations/open.ts";
import { checkParts, type DestinationParts } from "../destinations/parts.ts";
import {
  type DestinationRow,
  findDestination,
  lockDestination,
  requireUnused,
  selectDestinations,
} from "../destinations/rows.ts";
import { Destination, toDestination } from "../destinations/schemas.ts";
import { readPage } from "../door/pages.ts";
import {
  claimsElsewhere,
  holdTables,
  requireFreeTables,
  type TableClaim,
} from "../pipelines/free-tables.ts";
import { mergePatch } from "../sources/merge-patch.ts";
import { holdCredential } from "../sources/rows.ts";

const destinationParams = StrictObject({ destination_id: IdInput("The destination.") });
const ofWorkspace = StrictObject(workspaceInput);

export const listDestinations = defineRead({
  id: "destination.list",
  area: "Destinations",
  path: "/destinations",
  summary: "List destinations",
  permission: "read",
  query: StrictObject({
    ...namedListQuery,
    connector_id: Type.Optional(IdInput("Only destinations of this connector.")),
  }),
  data: List(Destination),
  errors: ["not_found", "invalid_cursor"],
  async run(ctx, { query: { limit = 50, cursor, search, sort, connector_id } }) {
    const { db, workspaceId } = ctx;
    const connectorId =
      connector_id === undefined ? undefined : namedConnector(ctx, connector_id).id;
    const filters = { list: "destinations", workspaceId, connectorId };
    let rows = selectDestinations(db, workspaceId);
    if (connectorId !== undefined) rows = rows.where("destinations.connector_id", "=", connectorId);
    const page = await readPage(rows, { cursor, limit, filters, search, sort }, "destinations");
    return { ...page, items: page.items.map(toDestination) };
  },
});

export const getDestination = defineRead({
  id: "destination.get",
  area: "Destinations",
  path: "/destinations/{destination_id}",
  summary: "Get a destination",
  permission: "read",
  params: destinationParams,
  query: ofWorkspace,
  data: Destination,
  errors: ["not_found"],
  run: async ({ db, workspaceId }, { params }) =>
    toDestination(await findDestination(db, workspaceId, params.destination_id)),
});

/** Errors of the parts of a destination. */
const partErrors = [
  "not_found",
  "connector_disabled",
  "secret_not_allowed",
  "invalid_configuration",
  "credential_mismatch",
  "connection_check_failed",
  "credential_not_usable",
] as const;

const CreateDestination = StrictObject({
  ...workspaceInput,
  name: Name,
  connector_id: IdInput("The connector."),
  credential_handle: Type.Optional(Handle),
  configuration: Type.Optional(Type.Object({}, { additionalProperties: true })),
});

async function partsOfNew(
  ctx: OperationContext,
  body: Static<typeof CreateDestination>,
): Promise<DestinationParts> {
  const definition = namedConnector(ctx, body.connector_id);
  if (definition.type !== "destination")
    throw refuseField("validation_failed", "connector_id", "is no destination");
  const { credential_handle: handle, configuration = {} } = body;
  const entered = configuration as JsonObject;
  return checkParts(ctx, definition, { entered, configuration: entered }, async () =>
    handle === undefined ? null : findByHandle(ctx.db, ctx.workspaceId, handle),
  );
}

export const createDestination = defineWrite({
  id: "destination.create",
  area: "Destinations",
  method: "POST",
  path: "/destinations",
  summary: "Create a destination",
  description:
    "Tests it first by writing and removing a table: when that fails, nothing is saved. The credential_handle is left out where the connector has no secrets.",
  permission: "write",
  limit: "provider",
  status: 201,
  resource: "destination",
  category: "destination_change",
  isRepeatable: true,
  body: CreateDestination,
  data: Destination,
  errors: partErrors,
  guard: (ctx, { body }) => partsOfNew(ctx, body),
  async prepare(ctx, { body }, parts) {
    await tryDestination(ctx, parts, body.name);
    return parts;
  },
  async commit(tx, ctx, { body }, { definition, credential, configuration }) {
    const { workspaceId, now } = ctx;
    if (!(await isEnabled(tx, definition.id))) throw new ControlError("connector_disabled");
    if (credential) await holdCredential(tx, credential);
    const id = createId("destination");
    await tx
      .insertInto("destinations")
      .values({
        id,
        workspace_id: workspaceId,
        name: body.name,
        connector_id: definition.id,
        credential_id: credential?.id ?? null,
        configuration: JSON.stringify(configuration),
        status: "active",
        last_check: JSON.stringify({ status: "succeeded", checked_at: now.toISOString() }),
        created_at: now,
        updated_at: now,
      })
      .execute();
    const row = await findDestination(tx, workspaceId, id);
    return { data: toDestination(row), resourceId: id, location: `/destinations/${id}` };
  },
});

const UpdateDestination = StrictObject({
  ...workspaceInput,
  name: Type.Optional(Name),
  connector_id: Type.Optional(
    Type.Unknown({ description: "Refused: a destination keeps its connector." }),
  ),
  credential_handle: Type.Optional(Handle),
  configuration: Type.Optional(
    Type.Object(
      {},
      { additionalProperties: true, description: "A JSON merge patch: null takes a setting away." },
    ),
  ),
});

/** The destination as it will be; without `parts` nothing changes that a test could judge. */
async function partsOfChange(
  ctx: OperationContext,
  id: string,
  body: Static<typeof UpdateDestination>,
) {
  const { db, workspaceId, services } = ctx;
  if (body.connector_id !== undefined)
    throw refuseField("immutable_field", "connector_id", "cannot be changed");
  const row = await findDestination(db, workspaceId, id);
  ctx.expectVersion(row.version);
  const { credential_handle: handle, name = row.name } = body;
  if (handle === undefined && body.configuration === undefined)
    return { row, version: row.version, name };
  const entered = (body.configuration ?? {}) as JsonObject;
  const configuration = mergePatch(row.configuration as JsonObject, entered);
  const definition = services.connectors.get(row.connector_id);
  const parts = await checkParts(ctx, definition, { entered, configuration }, async () => {
    if (handle !== undefined) return findByHandle(db, workspaceId, handle);
    return row.credential_id === null ? null : findCredential(db, workspaceId, row.credential_id);
  });
  return { row, version: row.version, name, parts };
}

/** The tables that pipelines get at another place, when the change leads to one. */
async function claimsOfChange(
  ctx: OperationContext,
  { row, parts }: { readonly row: DestinationRow; readonly parts?: DestinationParts | undefined },
): Promise<readonly TableClaim[]> {
  if (!parts) return [];
  const { configuration, credential } = parts;
  return claimsElsewhere(ctx, row, { configuration, credential_id: credential?.id ?? null });
}

export const updateDestination = defineWrite({
  id: "destination.update",
  area: "Destinations",
  method: "PATCH",
  path: "/destinations/{destination_id}",
  summary: "Change a destination",
  description:
    "Whatever changes more than the name is tested first: when that fails, nothing is saved. Rows that are elsewhere stay there: pipelines begin anew at another place.",
  permission: "write",
  limit: "provider",
  status: 200,
  resource: "destination",
  category: "destination_change",
  isRepeatable: true,
  params: destinationParams,
  body: UpdateDestination,
  data: Destination,
  errors: [
    "immutable_field",
    "version_mismatch",
    "concurrent_change",
    "table_in_use",
    ...partErrors,
  ],
  async guard(ctx, { params, body }) {
    const change = await partsOfChange(ctx, params.destination_id, body);
    for (const claim of await claimsOfChange(ctx, change)) await requireFreeTables(ctx.db, claim);
    return change;
  },
  asks: ({ parts }) => parts !== undefined,
  async prepare(ctx, _input, change) {
    if (change.parts) await tryDestination(ctx, change.parts, change.name);
    return change;
  },
  async commit(tx, ctx, { params: { destination_id: id }, body }, { version, parts }) {
    const { workspaceId, now } = ctx;
    const row = await lockDestination(tx, workspaceId, id);
    ctx.expectVersion(row.version);
    // The tested configuration was made from the version before.
    if (parts && row.version !== version)
      throw new ControlError("concurrent_change", { version: row.version });
    if (parts?.credential) await holdCredential(tx, parts.credential);
    if (!parts && body.name === undefined) return { data: toDestination(row), resourceId: id };
    const claims = await claimsOfChange({ ...ctx, db: tx }, { row, parts });
    for (const claim of claims) await holdTables(tx, claim);
    const last_check = JSON.stringify({ status: "succeeded", checked_at: now.toISOString() });
    await tx
      .updateTable("destinations")
      .set({
        version: row.version + 1,
        updated_at: now,
        name: body.name,
        ...(parts && {
          credential_id: parts.credential?.id ?? null,
          configuration: JSON.stringify(parts.configuration),
          status: "active",
          last_check,
        }),
      })
      .where("workspace_id", "=", workspaceId)
      .where("id", "=", id)
      .execute();
    return { data: toDestination(await findDestination(tx, workspaceId, id)), resourceId: id };
  },
});

export const deleteDestination = defineWrite({
  id: "destination.delete",
  area: "Destinations",
  method: "DELETE",
  path: "/destinations/{destination_id}",
  summary: "Delete a destination",
  description: "Only once nothing uses it. Its tables and its credential stay.",
  permission: "write",
  status: 200,
  resource: "destination",
  category: "destination_change",
  isRepeatable: true,
  params: destinationParams,
  query: ofWorkspace,
  data: StrictObject({
    destination_id: Id("destination"),
    deleted: Type.Literal(true),
    deleted_at: Time,
  }),
  errors: ["not_found", "destination_in_use", "version_mismatch"],
  async guard(ctx, { params }) {
    const row = await findDestination(ctx.db, ctx.workspaceId, params.destination_id);
    ctx.expectVersion(row.version);
    await requireUnused(ctx.db, row);
  },
  async commit(tx, ctx, { params: { destination_id: id } }) {
    const { workspaceId, now } = ctx;
    const row = await lockDestination(tx, workspaceId, id);
    ctx.expectVersion(row.version);
    await requireUnused(tx, row);
    await tx
      .deleteFrom("destinations")
      .where("workspace_id", "=", workspaceId)
      .where("id", "=", id)
      .execute();
    return {
      data: { destination_id: id, deleted: true as const, deleted_at: now.toISOString() },
      resourceId: id,
    };
  },
});

export const destinationOperations = [
  listDestinations,
  getDestination,
  createDestination,
  updateDestination,
  deleteDestination,
];
