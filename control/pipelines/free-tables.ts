/**
 * One table has one pipeline: of two that write to it, the second one's first job would fail. It is
 * told when the second one is made, changed or resumed, or when its destination leads elsewhere.
 */
import { sql } from "kysely";
import { type DestinationManifest, type JsonObject, streamLabel } from "svc-connectors/host";
import type { OperationContext } from "../contract/operation.ts";
import { ControlError } from "../contract/reasons.ts";
import { type DestinationRow, findDestination } from "../destinations/rows.ts";
import type { Db } from "../store/database.ts";
import type { PipelineRow } from "./rows.ts";
import type { AgreedStream } from "./selection.ts";
import { loadAgreed, type Selection } from "./streams.ts";
import { namingOf, ownPrefix, type TableNaming, tableOf } from "./table-names.ts";

/** A pipeline as it will be. */
export interface TableClaim {
  /** Undefined: it is not made yet. */
  readonly pipelineId?: string | undefined;
  readonly destination: DestinationRow;
  readonly destinationManifest: DestinationManifest;
  readonly naming: TableNaming;
  readonly agreed: readonly AgreedStream[];
}

/** A pipeline that is there, with what it has from now on. */
export async function claimOf(
  { db, services }: Pick<OperationContext, "db" | "services">,
  { id, workspace_id, destination_id }: PipelineRow,
  naming: TableNaming,
  { agreed }: Pick<Selection, "agreed">,
): Promise<TableClaim> {
  const destination = await findDestination(db, workspace_id, destination_id);
  const { connectors } = services;
  const definition = connectors.get(destination.connector_id);
  const destinationManifest = await connectors.destination(definition);
  return { pipelineId: id, destination, destinationManifest, naming, agreed };
}

/**
 * The pipelines of a destination with their tables at another place, if it is one: none where they
 * stay at the place that the destination has now.
 */
export async function claimsElsewhere(
  { db, services }: Pick<OperationContext, "db" | "services">,
  before: DestinationRow,
  after: Pick<DestinationRow, "configuration" | "credential_id">,
): Promise<readonly TableClaim[]> {
  const destination = { ...before, ...after };
  const { connectors } = services;
  const destinationManifest = await connectors.destination(connectors.get(before.connector_id));
  const [from, to] = [
    await whereaboutsOf(db, { destination: before, destinationManifest }),
    await whereaboutsOf(db, { destination, destinationManifest }),
  ];
  if (from.place === to.place && from.schema === to.schema) return [];
  const pipelines = await db
    .selectFrom("pipelines")
    .selectAll()
    .where("workspace_id", "=", before.workspace_id)
    .where("destination_id", "=", before.id)
    .where("status", "!=", "deleted")
    .orderBy("created_at")
    .execute();
  const claims: TableClaim[] = [];
  for (const pipeline of pipelines)
    claims.push({
      pipelineId: pipeline.id,
      destination,
      destinationManifest,
      naming: namingOf(pipeline),
      agreed: await loadAgreed(db, pipeline.id),
    });
  return claims;
}

/** Most conflicts that one answer lists. */
const maxNamed = 20;

/**
 * As {@link requireFreeTables}, and nobody else takes tables of that place until the transaction
 * ends.
 */
export async function holdTables(tx: Db, claim: TableClaim): Promise<void> {
  const { place } = await whereaboutsOf(tx, claim);
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${place}, 0))`.execute(tx);
  await requireFreeTables(tx, claim);
}

/**
 * Refuses tables to which another pipeline writes, through the same destination or through another
 * one that leads to the same place. A paused pipeline keeps its tables.
 * @throws table_in_use naming the pipelines of the own workspace
 */
export async function requireFreeTables(db: Db, claim: TableClaim): Promise<void> {
  const { destination, destinationManifest, naming, agreed } = claim;
  const { place, schema } = await whereaboutsOf(db, claim);
  const wanted = new Map(agreed.map(({ stream }) => [keyOf(naming, stream, schema), stream]));
  const conflicts = (await sameNames(db, claim)).flatMap(({ namespace, name, ...other }) => {
    const there = whereabouts(destinationManifest, other);
    const otherStream = { name, ...(namespace === null ? {} : { namespace }) };
    const stream = wanted.get(keyOf(namingOf(other), otherStream, there.schema));
    if (!stream || there.place !== place) return [];
    const isOwn = other.workspace_id === destination.workspace_id;
    return [
      {
        table: tableOf(naming, stream).table,
        stream: streamLabel(stream),
        pipeline_id: isOwn ? other.pipeline_id : null,
      },
    ];
  });
  if (conflicts.length === 0) return;
  throw new ControlError("table_in_use", {
    conflict_count: conflicts.length,
    conflicts: conflicts.slice(0, maxNamed),
  });
}

/** Databases tell names apart without case. */
const keyOf = (
  naming: TableNaming,
  stream: { readonly name: string; readonly namespace?: string },
  defaultSchema: string,
): string => {
  const { schema = defaultSchema, table } = tableOf(naming, stream);
  return JSON.stringify([schema, table]).toLowerCase();
};

/** A database or a file, and the schema of tables for which none is named. */
interface Whereabouts {
  readonly place: string;
  readonly schema: string;
}

interface Settings {
  readonly id: string;
  readonly workspace_id: string;
  readonly configuration: unknown;
  /** Settings that go with the secrets count over the destination's. */
  readonly metadata: unknown;
}

function whereabouts({ egress, spec }: DestinationManifest, row: Settings): Whereabouts {
  const properties = (spec.properties ?? {}) as Readonly<Record<string, { default?: unknown }>>;
  const settings: Readonly<Record<string, unknown>> = {
    ...(row.configuration as JsonObject),
    ...(row.metadata as JsonObject | null),
  };
  const textOf = (field: string) =>
    String(settings[field] ?? properties[field]?.default ?? "").toLowerCase();
  const place =
    egress.kind === "file"
      ? [row.workspace_id, textOf(egress.name)]
      : egress.kind === "s3"
        ? [textOf(egress.endpoint), textOf(egress.bucket), textOf(egress.prefix)]
        : [textOf(egress.host), textOf(egress.port), String(settings[egress.database])];
  return { place: JSON.stringify([egress.kind, ...place]), schema: textOf("schema") };
}

async function whereaboutsOf(
  db: Db,
  { destination, destinationManifest }: Pick<TableClaim, "destination" | "destinationManifest">,
): Promise<Whereabouts> {
  const credential = await db
    .selectFrom("credentials")
    .select("metadata")
    .where("id", "=", destination.credential_id)
    .executeTakeFirst();
  return whereabouts(destinationManifest, {
    ...destination,
    metadata: credential?.metadata ?? null,
  });
}

/**
 * Streams of other pipelines whose tables are called like these, of all that may be at the place.
 */
const sameNames = (
  db: Db,
  { pipelineId, destination, destinationManifest: { egress }, naming, agreed }: TableClaim,
) =>
  db
    .selectFrom("destinations")
    .innerJoin("pipelines", "pipelines.destination_id", "destinations.id")
    .innerJoin("pipeline_streams", "pipeline_streams.pipeline_id", "pipelines.id")
    .leftJoin("credentials", "credentials.id", "destinations.credential_id")
    .select([
      "destinations.id",
      "destinations.workspace_id",
      "destinations.configuration",
      "credentials.metadata",
      "pipelines.id as pipeline_id",
      "pipelines.prefix",
      "pipelines.namespace_definition",
      "pipelines.namespace_format",
      "pipeline_streams.namespace",
      "pipeline_streams.name",
    ])
    .where("destinations.connector_id", "=", destination.connector_id)
    .where("pipelines.status", "!=", "deleted")
    .$if(egress.kind === "file", (rows) =>
      rows.where("destinations.workspace_id", "=", destination.workspace_id),
    )
    .$if(pipelineId !== undefined, (rows) => rows.where("pipelines.id", "!=", pipelineId ?? ""))
    .where(
      sql<boolean>`lower(pipelines.prefix || pipeline_streams.name) = ANY (${agreed.map(
        ({ stream }) => tableOf(naming, stream).table.slice(ownPrefix.length).toLowerCase(),
      )}::text[])`,
    )
    .orderBy("pipelines.created_at")
    .orderBy("pipelines.id")
    .orderBy("pipeline_streams.position")
    .execute();
