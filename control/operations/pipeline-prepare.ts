/** Looking at the streams that a pipeline could sync: the source is asked, nothing is made. */
import { destinationSyncModes } from "svc-connectors/host";
import { Type } from "typebox";
import { defineCompute } from "../contract/operation.ts";
import { ControlError } from "../contract/reasons.ts";
import {
  IdInput,
  Nullable,
  OneOf,
  StrictObject,
  Time,
  workspaceInput,
} from "../contract/schemas.ts";
import { type Position, readCursor, toPage } from "../door/pages.ts";
import {
  discoverCatalog,
  findCatalog,
  isExpired,
  loadStreams,
  newestCatalog,
  partsOfSource,
  tableLimit,
} from "../pipelines/catalogs.ts";
import { suggest } from "../pipelines/modes.ts";
import { endsOf, type PipelineEnds } from "../pipelines/parts.ts";
import { ScheduleBody } from "../pipelines/schedule.ts";
import { schemaChangePolicies } from "../pipelines/schema-changes.ts";
import { identityOf } from "../pipelines/selection.ts";
import { findWarnings, selectedIn, suggestNaming } from "../pipelines/suggestions.ts";
import { namespaceDefinitions } from "../pipelines/table-names.ts";

const Path = Type.Array(Type.String());
const SyncMode = OneOf(["full_refresh", "incremental"]);

const ProposedCursor = StrictObject(
  {
    field: Type.String(),
    finds: OneOf(["changes", "new_rows"]),
    is_indexed: Type.Boolean({ description: "Without an index each sync looks at all rows." }),
    is_nullable: Type.Boolean({
      description:
        "Rows may have no value: those that come without one after the first sync are not read before they get one.",
    }),
  },
  { title: "ProposedCursor" },
);

const CatalogStreamData = StrictObject(
  {
    name: Type.String(),
    namespace: Nullable(Type.String()),
    json_schema: Type.Object({}, { additionalProperties: true }),
    supported_sync_modes: Type.Array(SyncMode),
    source_defined_cursor: Type.Boolean(),
    default_cursor_field: Path,
    proposed_cursors: Type.Array(ProposedCursor, {
      description:
        "Fields that may serve as the cursor where the source has none of its own, the best one first; none is used unless it is chosen.",
    }),
    source_defined_primary_key: Type.Array(Path),
    selected: Type.Boolean({ description: "A pipeline between these two syncs it already." }),
    suggested: Type.Boolean({ description: "It is in suggested_configuration." }),
  },
  { title: "CatalogStream" },
);

const SuggestedStream = StrictObject(
  {
    name: Type.String(),
    namespace: Nullable(Type.String()),
    sync_mode: SyncMode,
    destination_sync_mode: OneOf(destinationSyncModes),
    cursor_field: Path,
    primary_key: Type.Array(Path),
  },
  { title: "SuggestedStream" },
);

export const preparePipeline = defineCompute({
  id: "pipeline.prepare",
  area: "Pipelines",
  path: "/pipelines/prepare",
  summary: "Look at what a pipeline could sync",
  description:
    "Lists the source's streams in pages, with a configuration that suits them. What was found is kept for 30 minutes; refresh asks the source anew.",
  permission: "run",
  body: StrictObject({
    ...workspaceInput,
    source_id: IdInput("The source."),
    destination_id: IdInput("The destination."),
    refresh: Type.Optional(
      Type.Boolean({ description: "Asks the source although its streams are known." }),
    ),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, default: 200 })),
    cursor: Type.Optional(
      Type.String({ maxLength: 500, description: "next_cursor of the page before." }),
    ),
  }),
  data: StrictObject({
    prepare_id: Type.String({
      description: "For POST /pipelines: the selection is made from this.",
    }),
    expires_at: Time,
    catalog: StrictObject({ streams: Type.Array(CatalogStreamData) }),
    next_cursor: Nullable(Type.String()),
    has_more: Type.Boolean(),
    table_count: Type.Integer(),
    table_limit: Type.Integer(),
    suggested_configuration: StrictObject({
      streams: Type.Array(SuggestedStream, { description: "Those of this page." }),
      namespace_definition: OneOf(namespaceDefinitions),
      schema_change_policy: OneOf(schemaChangePolicies),
      schedule: ScheduleBody,
    }),
    warnings: Type.Array(
      StrictObject({
        reason: Type.String(),
        message: Type.String(),
        stream_count: Type.Integer(),
        sample: Type.Array(Type.String()),
      }),
    ),
  }),
  errors: [
    "not_found",
    "invalid_cursor",
    "connector_disabled",
    "invalid_base_url",
    "invalid_configuration",
    "credential_mismatch",
    "credential_not_usable",
    "oauth_app_missing",
    "table_limit_exceeded",
    "prepare_expired",
    "provider_refused",
    "provider_failed",
    "provider_timeout",
  ],
  async guard(ctx, { body }) {
    const ends = await endsOf(ctx, body);
    const { source } = ends;
    await partsOfSource(ctx, source);
    const after = readCursor(body.cursor, filtersOf(ends));
    const known = after
      ? await findCatalog(ctx, source, after.id)
      : body.refresh
        ? undefined
        : await newestCatalog(ctx, source);
    return { ...ends, after, known };
  },
  asks: ({ known }) => known === undefined,
  async run(ctx, { body }, { after, known, ...ends }) {
    const { source, destination, destinationManifest } = ends;
    const filters = filtersOf(ends);
    const row = known ?? (await discoverCatalog(ctx, source));
    if (isExpired(ctx, source, row)) throw new ControlError("prepare_expired");
    const limit = body.limit ?? 200;
    const from = after ? positionOf(after) : 0;
    const found = await loadStreams(ctx.db, row.id, { from, limit: limit + 1 });
    const modes = destinationManifest.syncModes;
    const { naming, isLeftOut } = await suggestNaming(ctx.db, row.id);
    const selected = await selectedIn(ctx.db, source.id, destination.id);
    const streams = found.slice(0, limit);
    const suggested = streams
      .filter((stream) => !isLeftOut(stream))
      .map((stream) => suggest(stream, modes));
    // A page begins at a position, and belongs to one catalog.
    const { has_more, next_cursor } = toPage(
      found.map((_, index) => ({ id: row.id, created_at: new Date(from + index + 1) })),
      limit,
      filters,
    );
    return {
      prepare_id: row.id,
      expires_at: row.expires_at.toISOString(),
      catalog: {
        streams: streams.map((stream) => ({
          name: stream.name,
          namespace: stream.namespace ?? null,
          json_schema: stream.json_schema,
          supported_sync_modes: [...stream.supported_sync_modes],
          source_defined_cursor: stream.source_defined_cursor,
          default_cursor_field: [...stream.default_cursor_field],
          proposed_cursors: (stream.proposed_cursors ?? []).map((proposal) => ({
            ...proposal,
            is_nullable: proposal.is_nullable === true,
          })),
          source_defined_primary_key: stream.source_defined_primary_key.map((path) => [...path]),
          selected: selected.has(identityOf(stream)),
          suggested: !isLeftOut(stream),
        })),
      },
      next_cursor,
      has_more,
      table_count: row.table_count,
      table_limit: tableLimit,
      suggested_configuration: {
        streams: suggested.map((one) => ({
          name: one.stream.name,
          namespace: one.stream.namespace ?? null,
          sync_mode: one.syncMode,
          destination_sync_mode: one.destinationSyncMode,
          cursor_field: [...one.cursorField],
          primary_key: one.primaryKey.map((path) => [...path]),
        })),
        namespace_definition: naming.namespaceDefinition,
        schema_change_policy: "propagate_columns" as const,
        schedule: { type: "manual" as const },
      },
      warnings: await findWarnings(ctx.db, row.id),
    };
  },
});

const filtersOf = ({ source, destination }: PipelineEnds) => ({
  list: "prepare",
  source: source.id,
  destination: destination.id,
});

const positionOf = ({ createdAt }: Position): number => createdAt.getTime();
