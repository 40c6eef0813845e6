/**
 * The parts of a pipeline, looked up and checked: the two ends of it, how its tables are called,
 * and what it syncs.
 */
import { type DestinationManifest, maxParallelStreams } from "svc-connectors/host";
import { Type } from "typebox";
import { requireEnabled } from "../connectors/registry.ts";
import type { OperationContext } from "../contract/operation.ts";
import { ControlError, refuseField } from "../contract/reasons.ts";
import { IdInput, Nullable, OneOf } from "../contract/schemas.ts";
import { type DestinationRow, findDestination } from "../destinations/rows.ts";
import { findSource, type SourceRow } from "../sources/rows.ts";
import type { Db } from "../store/database.ts";
import {
  type CatalogRow,
  catalogOf,
  findCatalog,
  isExpired,
  loadStreams,
  newestCatalog,
} from "./catalogs.ts";
import { isSame } from "./modes.ts";
import { checkSelection, type SelectionBody, StreamBody, selectStreams } from "./selecting.ts";
import { type AgreedStream, identityOf } from "./selection.ts";
import type { Selection } from "./streams.ts";
import { namespaceDefinitions, namespacePlaceholder, type TableNaming } from "./table-names.ts";

/** The two ends of a pipeline. */
export interface PipelineEnds {
  readonly source: SourceRow;
  readonly destination: DestinationRow;
  readonly destinationManifest: DestinationManifest;
}

/** @throws not_found, connector_disabled */
export async function endsOf(
  ctx: OperationContext,
  { source_id, destination_id }: { readonly source_id: string; readonly destination_id: string },
): Promise<PipelineEnds> {
  const { db, workspaceId, services } = ctx;
  const source = await findSource(db, workspaceId, source_id);
  const destination = await findDestination(db, workspaceId, destination_id);
  await requireEnabled(db, services.connectors.get(source.connector_id));
  const definition = services.connectors.get(destination.connector_id);
  await requireEnabled(db, definition);
  return {
    source,
    destination,
    destinationManifest: await services.connectors.destination(definition),
  };
}

/**
 * Keeps both ends from being changed or deleted until the transaction ends.
 * @throws not_found · concurrent_change: the source is not what its catalog was made from
 */
export async function holdEnds(tx: Db, { source, destination }: PipelineEnds): Promise<void> {
  const rowOf = (
    table: "sources" | "destinations",
    { id, workspace_id }: { id: string; workspace_id: string },
  ) =>
    tx
      .selectFrom(table)
      .select("version")
      .where("workspace_id", "=", workspace_id)
      .where("id", "=", id)
      .forShare()
      .executeTakeFirst();
  const held = await rowOf("sources", source);
  if (!held) throw new ControlError("not_found", { resource: "source" });
  if (held.version !== source.version)
    throw new ControlError("concurrent_change", { version: held.version });
  if (!(await rowOf("destinations", destination)))
    throw new ControlError("not_found", { resource: "destination" });
}

/** How many streams a job of the pipeline reads at the same time. */
export const ParallelStreams = Type.Integer({
  minimum: 1,
  maximum: maxParallelStreams,
  description:
    "How many streams a job reads at the same time, each in a process of its own. Default 1.",
});

/** Properties of a body that say how tables are called. */
export const namingProperties = {
  prefix: Type.Optional(
    Type.String({ pattern: "^[A-Za-z0-9_]{0,40}$", description: "Between _svc_ and the stream." }),
  ),
  namespace_definition: Type.Optional(OneOf(namespaceDefinitions)),
  namespace_format: Type.Optional(
    Nullable(
      Type.String({
        minLength: 1,
        maxLength: 200,
        pattern: "^[^\\u0000-\\u001f\\u007f]*$",
        description: `Schema of the tables, with ${namespacePlaceholder} in place of the stream's namespace. Only with custom_format.`,
      }),
    ),
  ),
};

interface NamingBody {
  readonly prefix?: string | undefined;
  readonly namespace_definition?: TableNaming["namespaceDefinition"] | undefined;
  readonly namespace_format?: string | null | undefined;
}

const plainNaming: TableNaming = {
  prefix: "",
  namespaceDefinition: "destination",
  namespaceFormat: null,
};

/** @throws validation_failed when the format and the definition do not go together */
export function namingFrom(body: NamingBody, before: TableNaming = plainNaming): TableNaming {
  const {
    prefix = before.prefix,
    namespace_definition: namespaceDefinition = before.namespaceDefinition,
  } = body;
  const isCustom = namespaceDefinition === "custom_format";
  const entered =
    body.namespace_format === undefined ? before.namespaceFormat : body.namespace_format;
  if (isCustom && entered === null)
    throw refuseField("validation_failed", "namespace_format", "is missing");
  if (!isCustom && typeof body.namespace_format === "string")
    throw refuseField("validation_failed", "namespace_format", "goes with custom_format only");
  return { prefix, namespaceDefinition, namespaceFormat: isCustom ? entered : null };
}

/** Properties of a body that say what is synced. */
export const selectionProperties = {
  prepare_id: Type.Optional(IdInput("What prepare gave: the selection is made from that.")),
  streams: Type.Optional(
    Type.Array(StreamBody, { description: "What is left out of an entry is as suggested." }),
  ),
  select_all: Type.Optional(
    Type.Boolean({
      description: "Everything that the source has; streams then say what is to be otherwise.",
    }),
  ),
};

export type SelectionRequest = SelectionBody & { readonly prepare_id?: string };

/** A selection as it is known before the source is asked. */
export interface Checked {
  /** Nobody has to ask the source. */
  readonly isKnown: boolean;
  /** The selection as it will be, unless what was prepared has expired. */
  readonly selection: Selection | undefined;
}

/**
 * Refuses what can be refused without asking the source: all of it when its catalog is known.
 * @throws validation_failed, table_limit_exceeded, not_found, stream_unknown,
 * sync_mode_unsupported, table_name_conflict
 */
export async function checkRequest(
  ctx: OperationContext,
  ends: PipelineEnds,
  request: SelectionRequest,
  naming: TableNaming,
): Promise<Checked> {
  checkSelection(request);
  const { prepare_id: prepareId } = request;
  const known = prepareId
    ? await findCatalog(ctx, ends.source, prepareId)
    : await newestCatalog(ctx, ends.source);
  if (known && !isExpired(ctx, ends.source, known))
    return { isKnown: true, selection: await select(ctx, ends, known, request, naming) };
  // The prepared selection is compared with what is known now.
  const newest = known && (await newestCatalog(ctx, ends.source));
  return { isKnown: newest !== undefined, selection: undefined };
}

/**
 * The streams of a request as they are agreed. The source is asked when nothing is known of it, or
 * what is known has expired.
 * @throws as {@link checkRequest} · prepare_expired: what was prepared is not what the source has
 * any more · as the source fails
 */
export async function selectionOf(
  ctx: OperationContext,
  ends: PipelineEnds,
  request: SelectionRequest,
  naming: TableNaming,
): Promise<Selection> {
  const { prepare_id: prepareId } = request;
  const named =
    prepareId === undefined ? undefined : await findCatalog(ctx, ends.source, prepareId);
  if (named && !isExpired(ctx, ends.source, named))
    return await select(ctx, ends, named, request, naming);
  const selection = await select(ctx, ends, await catalogOf(ctx, ends.source), request, naming);
  // A proposal may be decided about long after its half hour: it is carried out when nothing of
  // what it selects has changed.
  if (named) requireAsPrepared(await loadStreams(ctx.db, named.id), selection.agreed);
  return selection;
}

async function select(
  { db, now }: OperationContext,
  { destinationManifest }: PipelineEnds,
  row: CatalogRow,
  request: SelectionRequest,
  naming: TableNaming,
): Promise<Selection> {
  const catalog = await loadStreams(db, row.id);
  // It went with its source, a moment ago.
  if (catalog.length < row.table_count) throw new ControlError("not_found", { resource: "source" });
  const agreed = selectStreams(request, {
    catalog,
    seenAt: row.created_at < now ? row.created_at : undefined,
    modes: destinationManifest.syncModes,
    naming,
  });
  return { agreed, known: new Set(catalog.map(identityOf)) };
}

function requireAsPrepared(
  prepared: readonly AgreedStream["stream"][],
  agreed: readonly AgreedStream[],
): void {
  const before = new Map(prepared.map((stream) => [identityOf(stream), stream]));
  const changed = agreed.filter(({ stream }) => !isSame(before.get(identityOf(stream)), stream));
  if (changed.length > 0)
    throw new ControlError("prepare_expired", { changed_count: changed.length });
}
