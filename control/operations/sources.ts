/** Sources: a connector, a credential and settings that were seen working together. */
import type { JsonObject, Manifest } from "svc-connectors/host";
import { type Static, Type } from "typebox";
import type { ConnectorDefinition } from "../connectors.ts";
import { isEnabled, requireEnabled } from "../connectors.ts";
import { createId } from "../contract/ids.ts";
import { defineRead, defineWrite, type OperationContext } from "../contract/operation.ts";
import { ControlError } from "../contract/reasons.ts";
import { Exactly, Handle, IdInput, List, listQuery, Name, workspaceInput } from "../contract/schemas.ts";
import { type CredentialRow, findByHandle, requireConnector, requireUsable } from "../credentials/rows.ts";
import { runCheck } from "../runs.ts";
import { checkBaseUrlOf, refuseSecrets } from "../sources/configuration.ts";
import { findSource, selectSources } from "../sources/rows.ts";
import { Source, toSource } from "../sources/schemas.ts";
import { readCursor, toPage } from "../store/pages.ts";

const sourceParams = Exactly({ source_id: IdInput("The source.") });
const ofWorkspace = Exactly(workspaceInput);

export const listSources = defineRead({
  id: "source.list",
  area: "Sources",
  path: "/sources",
  summary: "List sources",
  permission: "read",
  query: Exactly({ ...listQuery, connector_id: Type.Optional(IdInput("Only sources of this connector.")) }),
  data: List(Source),
  errors: ["invalid_cursor"],
  async run({ db, workspaceId, services }, { query: { limit = 50, cursor, connector_id } }) {
    const connectorId = connector_id === undefined ? undefined : services.connectors.get(connector_id).id;
    const filters = { list: "sources", workspaceId, connectorId };
    const after = readCursor(cursor, filters);
    let rows = selectSources(db, workspaceId);
    if (connectorId !== undefined) rows = rows.where("sources.connector_id", "=", connectorId);
    if (after) {
      rows = rows.where((eb) =>
        eb(eb.refTuple("sources.created_at", "sources.id"), "<", eb.tuple(after.createdAt, after.id)),
      );
    }
    const found = await rows
      .orderBy("sources.created_at", "desc")
      .orderBy("sources.id", "desc")
      .limit(limit + 1)
      .execute();
    const page = toPage(found, limit, filters);
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
  run: async ({ db, workspaceId }, { params }) => toSource(await findSource(db, workspaceId, params.source_id)),
});

/** What a source is made of, looked up and checked without asking anybody. */
interface Parts {
  readonly definition: ConnectorDefinition;
  readonly manifest: Manifest;
  readonly credential: CredentialRow;
  readonly configuration: JsonObject;
}

const CreateSource = Exactly({
  ...workspaceInput,
  name: Name,
  connector_id: IdInput("The connector."),
  credential_handle: Handle,
  configuration: Type.Optional(Type.Object({}, { additionalProperties: true, default: {} })),
});

async function partsOf(ctx: OperationContext, body: Static<typeof CreateSource>): Promise<Parts> {
  const { services, db, workspaceId } = ctx;
  const definition = services.connectors.get(body.connector_id);
  await requireEnabled(db, definition);
  const manifest = await services.connectors.manifest(definition);
  const credential = await findByHandle(db, workspaceId, body.credential_handle);
  requireConnector(credential, definition.id);
  requireUsable(credential);
  const entered = (body.configuration ?? {}) as JsonObject;
  refuseSecrets(entered, []);
  return { definition, manifest, credential, configuration: checkBaseUrlOf(ctx, manifest, entered, credential) };
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
  body: CreateSource,
  data: Source,
  errors: [
    "not_found",
    "connector_disabled",
    "invalid_base_url",
    "secret_not_allowed",
    "invalid_configuration",
    "credential_mismatch",
    "connection_check_failed",
    "credential_not_usable",
  ],
  async guard(ctx, { body }) {
    await partsOf(ctx, body);
  },
  async prepare(ctx, { body }) {
    const parts = await partsOf(ctx, body);
    const result = await runCheck(ctx, parts);
    if (result.status === "failed") {
      const { code, message } = result.error;
      throw new ControlError("connection_check_failed", { check: { status: "failed", error: code, message } });
    }
    return parts;
  },
  async commit(tx, ctx, { body }, { definition, credential, configuration }) {
    const { workspaceId, now } = ctx;
    if (!(await isEnabled(tx, definition.id))) throw new ControlError("connector_disabled");
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

export const sourceOperations = [listSources, getSource, createSource];
