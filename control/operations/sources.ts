/** Sources: a connector, a credential and settings that were seen working together. */
import type { JsonObject } from "svc-connectors/host";
import { type Static, Type } from "typebox";
import { baseUrlIn } from "../connectors/configuration.ts";
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
import { readPage } from "../door/pages.ts";
import { holdOnlyReader, readingOfChange, requireOnlyReader } from "../pipelines/only-reader.ts";
import { mergePatch } from "../sources/merge-patch.ts";
import {
  enteredConfiguration,
  namedSettings,
  namedSettingsPatch,
  namesSettings,
} from "../sources/named-settings.ts";
import { checkParts, type SourceParts } from "../sources/parts.ts";
import {
  findSource,
  holdCredential,
  lockSource,
  requireUnconnected,
  selectSources,
} from "../sources/rows.ts";
import { Source, toSource } from "../sources/schemas.ts";
import { tryConnection } from "../sources/try-connection.ts";

const sourceParams = StrictObject({ source_id: IdInput("The source.") });
const ofWorkspace = StrictObject(workspaceInput);

export const listSources = defineRead({
  id: "source.list",
  area: "Sources",
  path: "/sources",
  summary: "List sources",
  permission: "read",
  query: StrictObject({
    ...namedListQuery,
    connector_id: Type.Optional(IdInput("Only sources of this connector.")),
  }),
  data: List(Source),
  errors: ["not_found", "invalid_cursor"],
  async run(ctx, { query: { limit = 50, cursor, search, sort, connector_id } }) {
    const { db, workspaceId } = ctx;
    const connectorId =
      connector_id === undefined ? undefined : namedConnector(ctx, connector_id).id;
    const filters = { list: "sources", workspaceId, connectorId };
    let rows = selectSources(db, workspaceId);
    if (connectorId !== undefined) rows = rows.where("sources.connector_id", "=", connectorId);
    const page = await readPage(rows, { cursor, limit, filters, search, sort }, "sources");
    return { ...page, items: page.items.map(toSource) };
  },
});

export const getSource = defineRead({
  id: "source.get",
  area: "Sources",
  path: "/sources/{source_id}",
  summary: "Get a source",
  permission: "read",
  params: sourceParams,
  query: ofWorkspace,
  data: Source,
  errors: [],
  run: async ({ db, workspaceId }, { params }) =>
    toSource(await findSource(db, workspaceId, params.source_id)),
});

/** Errors of the parts of a source. */
const partErrors = [
  "not_found",
  "connector_disabled",
  "invalid_base_url",
  "secret_not_allowed",
  "duplicate_field",
  "invalid_configuration",
  "credential_mismatch",
  "connection_check_failed",
  "credential_not_usable",
] as const;

const AnyConfiguration = Type.Object({}, { additionalProperties: true });

const CreateSource = StrictObject({
  ...workspaceInput,
  name: Name,
  connector_id: IdInput("The connector."),
  credential_handle: Handle,
  configuration: Type.Optional(AnyConfiguration),
  ...namedSettings,
});

/** Where the settings of a body stand. */
const placeOf = (body: { readonly base_url?: unknown }) =>
  body.base_url === undefined ? "configuration" : "";

async function partsOfNew(
  ctx: OperationContext,
  body: Static<typeof CreateSource>,
): Promise<SourceParts> {
  const definition = namedConnector(ctx, body.connector_id);
  if (definition.type !== "source")
    throw refuseField("validation_failed", "connector_id", "is no source");
  const entered = enteredConfiguration(definition, body);
  return checkParts(
    ctx,
    definition,
    { entered, configuration: entered, place: placeOf(body) },
    () => findByHandle(ctx.db, ctx.workspaceId, body.credential_handle),
  );
}

export const createSource = defineWrite({
  id: "source.create",
  area: "Sources",
  method: "POST",
  path: "/sources",
  summary: "Create a source",
  description: "Tests the connection first (Save & Test): when it fails, nothing is saved.",
  permission: "write",
  limit: "provider",
  status: 201,
  resource: "source",
  category: "source_change",
  isRepeatable: true,
  body: CreateSource,
  data: Source,
  errors: partErrors,
  guard: (ctx, { body }) => partsOfNew(ctx, body),
  async prepare(ctx, { body }, parts) {
    await tryConnection(ctx, parts, body.name);
    return parts;
  },
  async commit(tx, ctx, { body }, { definition, manifest, credential, configuration }) {
    const { workspaceId, now } = ctx;
    if (!(await isEnabled(tx, definition.id))) throw new ControlError("connector_disabled");
    await holdCredential(tx, credential, baseUrlIn(configuration, manifest));
    const id = createId("source");
    await tx
      .insertInto("sources")
      .values({
        id,
        workspace_id: workspaceId,
        name: body.name,
        connector_id: definition.id,
        credential_id: credential.id,
        configuration: JSON.stringify(configuration),
        status: "active",
        last_check: JSON.stringify({ status: "succeeded", checked_at: now.toISOString() }),
        created_at: now,
        updated_at: now,
      })
      .execute();
    const row = await findSource(tx, workspaceId, id);
    return { data: toSource(row), resourceId: id, location: `/sources/${id}` };
  },
});

const UpdateSource = StrictObject({
  ...workspaceInput,
  name: Type.Optional(Name),
  connector_id: Type.Optional(
    Type.Unknown({ description: "Refused: a source keeps its connector." }),
  ),
  credential_handle: Type.Optional(Handle),
  configuration: Type.Optional(
    Type.Object(
      {},
      { additionalProperties: true, description: "A JSON merge patch: null takes a setting away." },
    ),
  ),
  ...namedSettingsPatch,
});

/** The source as it will be; without `parts` nothing changes that a connection test could judge. */
async function partsOfChange(ctx: OperationContext, id: string, body: Static<typeof UpdateSource>) {
  const { db, workspaceId, services } = ctx;
  if (body.connector_id !== undefined)
    throw refuseField("immutable_field", "connector_id", "cannot be changed");
  const row = await findSource(db, workspaceId, id);
  ctx.expectVersion(row.version);
  const { credential_handle: handle, name = row.name } = body;
  if (handle === undefined && !namesSettings(body)) return { version: row.version, name };
  const definition = services.connectors.get(row.connector_id);
  const entered = enteredConfiguration(definition, body);
  const configuration = mergePatch(row.configuration as JsonObject, entered);
  const parts = await checkParts(
    ctx,
    definition,
    { entered, configuration, place: placeOf(body) },
    () =>
      handle === undefined
        ? findCredential(db, workspaceId, row.credential_id)
        : findByHandle(db, workspaceId, handle),
  );
  return { version: row.version, name, parts };
}

const readingOfParts = (
  ctx: Pick<OperationContext, "db">,
  sourceId: string,
  { definition, credential, configuration }: SourceParts,
) =>
  readingOfChange(ctx, sourceId, {
    connector_id: definition.id,
    credential_id: credential.id,
    configuration,
  });

export const updateSource = defineWrite({
  id: "source.update",
  area: "Sources",
  method: "PATCH",
  path: "/sources/{source_id}",
  summary: "Change a source",
  description:
    "Whatever changes more than the name is tested first: when the connection fails, nothing is saved.",
  permission: "write",
  limit: "provider",
  status: 200,
  resource: "source",
  category: "source_change",
  isRepeatable: true,
  params: sourceParams,
  body: UpdateSource,
  data: Source,
  errors: [
    "immutable_field",
    "version_mismatch",
    "concurrent_change",
    "source_in_use",
    ...partErrors,
  ],
  async guard(ctx, { params, body }) {
    const change = await partsOfChange(ctx, params.source_id, body);
    const reading = change.parts && (await readingOfParts(ctx, params.source_id, change.parts));
    if (reading) await requireOnlyReader(ctx, reading);
    return change;
  },
  asks: ({ parts }) => parts !== undefined,
  async prepare(ctx, _input, change) {
    if (change.parts) await tryConnection(ctx, change.parts, change.name);
    return change;
  },
  async commit(tx, ctx, { params: { source_id: id }, body }, { version, parts }) {
    const { workspaceId, now } = ctx;
    const row = await lockSource(tx, workspaceId, id);
    ctx.expectVersion(row.version);
    // The tested configuration was made from the version before.
    if (parts && row.version !== version)
      throw new ControlError("concurrent_change", { version: row.version });
    if (parts)
      await holdCredential(tx, parts.credential, baseUrlIn(parts.configuration, parts.manifest));
    const within = { ...ctx, db: tx };
    const reading = parts && (await readingOfParts(within, id, parts));
    if (reading) await holdOnlyReader(within, reading);
    if (!parts && body.name === undefined) return { data: toSource(row), resourceId: id };
    const last_check = JSON.stringify({ status: "succeeded", checked_at: now.toISOString() });
    await tx
      .updateTable("sources")
      .set({
        version: row.version + 1,
        updated_at: now,
        name: body.name,
        ...(parts && {
          credential_id: parts.credential.id,
          configuration: JSON.stringify(parts.configuration),
          status: "active",
          last_check,
        }),
      })
      .where("workspace_id", "=", workspaceId)
      .where("id", "=", id)
      .execute();
    return { data: toSource(await findSource(tx, workspaceId, id)), resourceId: id };
  },
});

export const deleteSource = defineWrite({
  id: "source.delete",
  area: "Sources",
  method: "DELETE",
  path: "/sources/{source_id}",
  summary: "Delete a source",
  description: "Only once all of its connections are deleted. Its credential stays.",
  permission: "write",
  status: 200,
  resource: "source",
  category: "source_delete",
  isRepeatable: true,
  params: sourceParams,
  query: ofWorkspace,
  data: StrictObject({
    source_id: Id("source"),
    deleted: Type.Boolean(),
    post_delete_verified: Type.Boolean({
      description: "It was looked for after the deletion, and was not found.",
    }),
    deleted_at: Time,
  }),
  errors: ["not_found", "source_has_connections", "version_mismatch"],
  async guard(ctx, { params }) {
    const row = await findSource(ctx.db, ctx.workspaceId, params.source_id);
    ctx.expectVersion(row.version);
    await requireUnconnected(ctx.db, row);
  },
  async commit(tx, ctx, { params: { source_id: id } }) {
    const { workspaceId, now } = ctx;
    const row = await lockSource(tx, workspaceId, id);
    ctx.expectVersion(row.version);
    await requireUnconnected(tx, row);
    await tx
      .deleteFrom("sources")
      .where("workspace_id", "=", workspaceId)
      .where("id", "=", id)
      .execute();
    const left = await selectSources(tx, workspaceId).where("sources.id", "=", id).execute();
    const data = {
      source_id: id,
      deleted: true,
      post_delete_verified: left.length === 0,
      deleted_at: now.toISOString(),
    };
    return { data, resourceId: id };
  },
});

export const sourceOperations = [listSources, getSource, createSource, updateSource, deleteSource];
