/**
 * Catalogs that sources were found to have, kept for a while: asking for 6,000 tables takes its
 * time, and a person looks through them in pages.
 */
import type { Selectable } from "kysely";
import { type CatalogStream, ConnectorError, type JsonObject } from "svc-connectors/host";
import { createId } from "../contract/ids.ts";
import type { OperationContext } from "../contract/operation.ts";
import { ControlError, notFound } from "../contract/reasons.ts";
import { findCredential } from "../credentials/rows.ts";
import { checkParts } from "../sources/parts.ts";
import type { SourceRow } from "../sources/rows.ts";
import { openRun } from "../sources/runs.ts";
import type { Db } from "../store/database.ts";
import type { Tables } from "../store/tables.ts";

export type CatalogRow = Selectable<Tables["catalogs"]>;

/**
 * Most tables that one discovery lists and one pipeline syncs.
 * @see control API specification, part 8
 */
export const tableLimit = 6_000;

/** A catalog that was found is good for so long. */
const lifetimeMs = 30 * 60_000;
/** Expired ones are kept for as long as a proposal may refer to them. */
const keptMs = 8 * 24 * 60 * 60_000;
/** Rows of one INSERT. */
const portion = 500;

/**
 * The source as it is run, looked at anew: an approval of its host may have been withdrawn since.
 */
export async function partsOfSource(ctx: OperationContext, row: SourceRow) {
  const definition = ctx.services.connectors.get(row.connector_id);
  const configuration = row.configuration as JsonObject;
  return checkParts(ctx, definition, { entered: {}, configuration, place: "configuration" }, () =>
    findCredential(ctx.db, ctx.workspaceId, row.credential_id),
  );
}

/**
 * The newest catalog of the source as it is now, or a new one.
 * @throws as {@link discoverCatalog}
 */
export const catalogOf = async (ctx: OperationContext, source: SourceRow): Promise<CatalogRow> =>
  (await newestCatalog(ctx, source)) ?? (await discoverCatalog(ctx, source));

/**
 * A new catalog: the source is asked.
 * @throws table_limit_exceeded, not_found when it was deleted meanwhile, and as the source fails
 */
export const discoverCatalog = async (
  ctx: OperationContext,
  source: SourceRow,
): Promise<CatalogRow> => keep(ctx, source, await discover(ctx, source));

/** The newest catalog of the source as it is now, without asking it. */
export const newestCatalog = ({ db, now }: OperationContext, { id, version }: SourceRow) =>
  db
    .selectFrom("catalogs")
    .selectAll()
    .where("source_id", "=", id)
    .where("source_version", "=", version)
    .where("expires_at", ">", now)
    .orderBy("created_at", "desc")
    .limit(1)
    .executeTakeFirst();

/** The catalog that a request names; it may have expired. @throws not_found */
export async function findCatalog(
  { db, workspaceId }: OperationContext,
  source: SourceRow,
  prepareId: string,
): Promise<CatalogRow> {
  const row = await db
    .selectFrom("catalogs")
    .selectAll()
    .where("workspace_id", "=", workspaceId)
    .where("source_id", "=", source.id)
    .where("id", "=", prepareId)
    .executeTakeFirst();
  if (!row) throw notFound("prepare", prepareId);
  return row;
}

/** Whether it may no longer be what the source has. */
export const isExpired = ({ now }: OperationContext, source: SourceRow, row: CatalogRow): boolean =>
  row.expires_at <= now || row.source_version !== source.version;

async function discover(
  ctx: OperationContext,
  source: SourceRow,
): Promise<readonly CatalogStream[]> {
  const parts = await partsOfSource(ctx, source);
  const { config, options } = await openRun(ctx, parts, "discover");
  try {
    return await ctx.services.host.discover(parts.definition.reference, config, options);
  } catch (error) {
    if (error instanceof ConnectorError && error.code === "TOO_MANY_TABLES")
      throw tooManyTables(Number(error.details.found));
    throw error;
  }
}

/** @param sample names of some of them */
export const tooManyTables = (count: number, sample: readonly string[] = []) =>
  new ControlError("table_limit_exceeded", { limit: tableLimit, count, sample });

async function keep(
  { db, now, workspaceId }: OperationContext,
  source: SourceRow,
  streams: readonly CatalogStream[],
): Promise<CatalogRow> {
  return await db.transaction().execute(async (tx) => {
    // It may have been deleted while it was asked.
    const held = await tx
      .selectFrom("sources")
      .select("id")
      .where("id", "=", source.id)
      .forShare()
      .executeTakeFirst();
    if (!held) throw notFound("source", source.id);
    await tx
      .deleteFrom("catalogs")
      .where("source_id", "=", source.id)
      .where("expires_at", "<", new Date(now.getTime() - keptMs))
      .execute();
    const row = await tx
      .insertInto("catalogs")
      .values({
        id: createId("prepare"),
        workspace_id: workspaceId,
        source_id: source.id,
        source_version: source.version,
        table_count: streams.length,
        created_at: now,
        expires_at: new Date(now.getTime() + lifetimeMs),
      })
      .returningAll()
      .executeTakeFirstOrThrow();
    for (let start = 0; start < streams.length; start += portion) {
      const rows = streams.slice(start, start + portion).map((stream, index) => ({
        catalog_id: row.id,
        position: start + index,
        namespace: stream.namespace ?? null,
        name: stream.name,
        stream: JSON.stringify(stream),
      }));
      await tx.insertInto("catalog_streams").values(rows).execute();
    }
    return row;
  });
}

/** Streams of a catalog in the source's order, from a position on. */
export async function loadStreams(
  db: Db,
  catalogId: string,
  { from = 0, limit = tableLimit }: { readonly from?: number; readonly limit?: number } = {},
): Promise<readonly CatalogStream[]> {
  const rows = await db
    .selectFrom("catalog_streams")
    .select("stream")
    .where("catalog_id", "=", catalogId)
    .where("position", ">=", from)
    .orderBy("position")
    .limit(limit)
    .execute();
  return rows.map(({ stream }) => stream as unknown as CatalogStream);
}
