/** Connectors: what data can be fetched from and written to, and what each of them asks for. */
import { type CatalogStream, connectorCategories, releaseStages } from "svc-connectors/host";
import { type Static, Type } from "typebox";
import { ConformanceSummary, summaryOf } from "../connectors/conformance.ts";
import {
  accountFieldsOf,
  authTypes,
  authTypesOf,
  specificationOf,
  startPathOf,
} from "../connectors/describe.ts";
import {
  type ConnectorDefinition,
  connectorTypes,
  isEnabled,
  namedConnector,
} from "../connectors/registry.ts";
import { defineRead, type OperationContext } from "../contract/operation.ts";
import {
  IdInput,
  List,
  listQuery,
  Nullable,
  OneOf,
  StrictObject,
  Version,
} from "../contract/schemas.ts";
import { secretFieldsOf } from "../contract/secret-settings.ts";
import { readCursor, toPage } from "../door/pages.ts";
import {
  ImageMetadata,
  ManifestMetadata,
  manifestMetadataOf,
  shownImage,
} from "./connector-metadata.ts";

/** Most tables of one sync; more are refused by discovery and selection alike. */
const maxTables = 6_000;

export const connectorParams = StrictObject({ connector_id: IdInput("The connector.") });

const connectorFields = {
  connector_id: Type.String(),
  name: Type.String(),
  type: OneOf(connectorTypes),
  category: OneOf(connectorCategories),
  auth_types: Type.Array(OneOf(authTypes)),
  release_stage: OneOf(releaseStages),
  supports: StrictObject(
    {
      full_refresh: Type.Boolean(),
      incremental: Type.Boolean(),
      namespaces: Type.Boolean(),
      ssl: Type.Boolean(),
    },
    { title: "ConnectorFeatures" },
  ),
  added: Type.Boolean({ description: "It does not come with svc: it was added to this instance." }),
  enabled: Type.Boolean({ description: "False: nothing new can be started with it." }),
  documentation_url: Nullable(Type.String()),
};
export const Connector = StrictObject(connectorFields, { title: "Connector" });

export async function toConnector(
  ctx: OperationContext,
  definition: ConnectorDefinition,
): Promise<Static<typeof Connector>> {
  const { connectors } = ctx.services;
  const [manifest, catalog, enabled] = await Promise.all([
    connectors.describe(definition),
    connectors.catalog(definition),
    isEnabled(ctx.db, definition.id),
  ]);
  // A database's tables are only known with its account: it has namespaces, and what else they can
  // depends on them. So do the streams of an image.
  const isDatabase = manifest.egress.kind !== "http";
  const isImage = definition.added?.image !== undefined;
  return {
    connector_id: definition.id,
    name: manifest.title,
    type: definition.type,
    category: definition.category,
    auth_types: authTypesOf(manifest),
    release_stage: definition.releaseStage,
    supports: {
      full_refresh: true,
      incremental:
        isDatabase ||
        isImage ||
        catalog.some((stream) => stream.supported_sync_modes.includes("incremental")),
      namespaces: isDatabase || catalog.some((stream) => stream.namespace !== undefined),
      ssl: manifest.egress.kind !== "file",
    },
    added: definition.added !== undefined,
    enabled,
    documentation_url: definition.documentationUrl,
  };
}

const { limit, cursor } = listQuery;

export const listConnectors = defineRead({
  id: "connector.list",
  area: "Connectors",
  path: "/connectors",
  summary: "List connectors",
  permission: "read",
  workspace: "none",
  query: StrictObject({
    limit,
    cursor,
    search: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description: "Part of the name or id, in any case.",
      }),
    ),
    sort: Type.Optional(
      OneOf(["name", "-name"], {
        description: "A minus turns it round. Default: sources, then destinations.",
      }),
    ),
    type: Type.Optional(OneOf(connectorTypes)),
    category: Type.Optional(OneOf(connectorCategories)),
    auth_type: Type.Optional(OneOf(authTypes)),
    q: Type.Optional(
      Type.String({ minLength: 1, maxLength: 200, description: "The name of search before." }),
    ),
  }),
  data: List(Connector),
  errors: ["invalid_cursor"],
  async run(
    ctx,
    {
      query: { limit: size = 50, cursor: position, sort, type, category, auth_type, q, search = q },
    },
  ) {
    const filters = { list: "connectors", type, category, auth_type, search, sort };
    const after = readCursor(position, filters);
    await ctx.services.connectors.reload();
    const described = await Promise.all(
      ctx.services.connectors.list().map((definition) => toConnector(ctx, definition)),
    );
    const wanted = described.filter(
      (one) =>
        (type === undefined || one.type === type) &&
        (category === undefined || one.category === category) &&
        (auth_type === undefined || one.auth_types.includes(auth_type)) &&
        (search === undefined ||
          `${one.name}\n${one.connector_id}`.toLowerCase().includes(search.toLowerCase())),
    );
    if (sort) wanted.sort(byName);
    if (sort === "-name") wanted.reverse();
    // They have no date: a cursor holds the place in the list.
    const rows = wanted.map((one, index) => ({
      ...one,
      id: one.connector_id,
      created_at: new Date(index),
    }));
    const found = rows.findIndex(({ id }) => id === after?.id);
    const begin = found === -1 ? (after?.createdAt.getTime() ?? 0) : found + 1;
    const page = toPage(rows.slice(begin), size, filters);
    return { ...page, items: [...page.items] };
  },
});

/** Orders by names, and by ids where those are alike. */
function byName(left: Static<typeof Connector>, right: Static<typeof Connector>): number {
  const [one, other] = [left.name.toLowerCase(), right.name.toLowerCase()];
  if (one === other) return left.connector_id < right.connector_id ? -1 : 1;
  return one < other ? -1 : 1;
}

const StreamPreview = StrictObject(
  {
    name: Type.String(),
    sync_modes: Type.Array(OneOf(["full_refresh", "incremental"])),
    primary_key: Type.Array(Type.String()),
    fields: Type.Array(Type.String()),
  },
  { title: "StreamPreview" },
);

const toPreview = (stream: CatalogStream): Static<typeof StreamPreview> => ({
  name: stream.name,
  sync_modes: [...stream.supported_sync_modes],
  primary_key: stream.source_defined_primary_key.map((path) => path.join(".")),
  fields: Object.keys((stream.json_schema.properties ?? {}) as object),
});

export const getConnector = defineRead({
  id: "connector.get",
  area: "Connectors",
  path: "/connectors/{connector_id}",
  summary: "Get a connector",
  permission: "read",
  workspace: "none",
  params: connectorParams,
  data: StrictObject(
    {
      ...connectorFields,
      streams_preview: Type.Array(StreamPreview, {
        description: "With its standard settings; empty where the streams are the account's.",
      }),
      limits: StrictObject({ max_tables: Type.Integer() }),
      manifest: Nullable(
        Type.String({ description: "The text of a declarative manifest that was added." }),
      ),
      manifest_metadata: Nullable(ManifestMetadata),
      source_image: Nullable(
        Type.String({
          description:
            "The image that was added, with its digest. For administrators of the instance; null for others.",
        }),
      ),
      allowed_hosts: Nullable(
        Type.Array(Type.String(), { description: "Hosts that requests of the image may go to." }),
      ),
      image_metadata: Nullable(ImageMetadata),
      conformance: Nullable(ConformanceSummary),
      version: Nullable(Version),
    },
    { title: "ConnectorWithStreams" },
  ),
  errors: ["not_found"],
  async run(ctx, { params }) {
    const definition = namedConnector(ctx, params.connector_id);
    const catalog = await ctx.services.connectors.catalog(definition);
    const connector = await toConnector(ctx, definition);
    return {
      ...connector,
      streams_preview: catalog.map(toPreview),
      limits: { max_tables: maxTables },
      manifest: definition.added?.manifestText?.text ?? null,
      manifest_metadata: manifestMetadataOf(definition),
      ...(await shownImage(ctx, definition)),
      conformance: await summaryOf(ctx.db, definition),
      version: definition.added?.version ?? null,
    };
  },
});

export const getConnectorSpec = defineRead({
  id: "connector.spec",
  area: "Connectors",
  path: "/connectors/{connector_id}/spec",
  summary: "Get what a connector asks for",
  permission: "read",
  workspace: "none",
  params: connectorParams,
  data: StrictObject({
    connector_id: Type.String(),
    spec_version: Type.String(),
    connection_specification: Type.Object(
      {},
      { additionalProperties: true, description: "JSON Schema 2020-12." },
    ),
    secret_fields: Type.Array(Type.String(), {
      description: "They go into a credential and nowhere else.",
    }),
    auth: StrictObject({
      type: OneOf(authTypes),
      start_path: Nullable(
        Type.String({ description: "Where a credential begins, below the base path." }),
      ),
      account_fields: Type.Array(Type.String(), {
        description: "Settings that a connected account stands for: nobody enters them then.",
      }),
    }),
  }),
  errors: ["not_found"],
  async run(ctx, { params }) {
    const definition = namedConnector(ctx, params.connector_id);
    const manifest = await ctx.services.connectors.describe(definition);
    const [type = "none"] = authTypesOf(manifest);
    return {
      connector_id: definition.id,
      spec_version: manifest.version,
      connection_specification: specificationOf(definition, manifest),
      secret_fields: secretFieldsOf(manifest),
      auth: {
        type,
        start_path: startPathOf(definition, type),
        account_fields: accountFieldsOf(manifest),
      },
    };
  },
});

export const connectorOperations = [listConnectors, getConnector, getConnectorSpec];
