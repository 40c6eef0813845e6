/**
 * The agreed streams of a pipeline in the database. There may be 6,000: they are written in
 * portions, and read when a job needs them.
 */
import type { Kysely, Selectable } from "kysely";
import type { CatalogStream, StreamDescriptor } from "svc-connectors/host";
import type { Db } from "../store/database.ts";
import type { Tables } from "../store/tables.ts";
import { type AgreedStream, identityOf } from "./selection.ts";

export type StreamRow = Selectable<Tables["pipeline_streams"]>;

/** Rows of one INSERT: their parameters stay far below PostgreSQL's 65,535. */
const portion = 500;

const toAgreed = (row: StreamRow): AgreedStream => ({
  stream: row.stream as unknown as CatalogStream,
  syncMode: row.sync_mode,
  destinationSyncMode: row.destination_sync_mode,
  cursorField: row.cursor_field,
  primaryKey: row.primary_key,
  selectedFields: row.selected_fields,
  hashedFields: row.hashed_fields,
  rowFilter: row.row_filter,
  detectDeletes: row.detect_deletes,
  isRestart: row.is_restart,
});

/**
 * The streams that a pipeline syncs, in the order of its selection, and which streams its source
 * had when they were agreed.
 */
export interface Selection {
  readonly agreed: readonly AgreedStream[];
  /** {@link identityOf} each. */
  readonly known: ReadonlySet<string>;
}

/** Streams in the order of their selection, from a position on. */
export async function loadAgreed(
  db: Db,
  pipelineId: string,
  { from = 0, limit }: { readonly from?: number; readonly limit?: number } = {},
): Promise<readonly AgreedStream[]> {
  const rows = db
    .selectFrom("pipeline_streams")
    .selectAll()
    .where("pipeline_id", "=", pipelineId)
    .where("position", ">=", from)
    .orderBy("position");
  const found = await (limit === undefined ? rows : rows.limit(limit)).execute();
  return found.map(toAgreed);
}

export async function loadSelection(db: Db, pipelineId: string): Promise<Selection> {
  const catalog = await db
    .selectFrom("pipeline_catalogs")
    .select("known")
    .where("pipeline_id", "=", pipelineId)
    .executeTakeFirst();
  return {
    agreed: await loadAgreed(db, pipelineId),
    known: new Set(catalog?.known.map((name) => JSON.stringify(name))),
  };
}

/**
 * Puts a selection in the place of the one before, in a transaction that holds the pipeline's row.
 * Gives its version.
 */
export async function saveSelection(
  tx: Db,
  pipelineId: string,
  { agreed, known }: Selection,
): Promise<Pick<Selectable<Tables["pipelines"]>, "selection_version">> {
  await tx.deleteFrom("pipeline_streams").where("pipeline_id", "=", pipelineId).execute();
  for (let start = 0; start < agreed.length; start += portion) {
    const rows = agreed.slice(start, start + portion).map((one, index) => ({
      pipeline_id: pipelineId,
      position: start + index,
      namespace: one.stream.namespace ?? null,
      name: one.stream.name,
      sync_mode: one.syncMode,
      destination_sync_mode: one.destinationSyncMode,
      cursor_field: JSON.stringify(one.cursorField),
      primary_key: JSON.stringify(one.primaryKey),
      selected_fields: one.selectedFields && JSON.stringify(one.selectedFields),
      hashed_fields: one.hashedFields && JSON.stringify(one.hashedFields),
      row_filter: one.rowFilter && JSON.stringify(one.rowFilter),
      detect_deletes: one.detectDeletes,
      is_restart: one.isRestart,
      stream: JSON.stringify(one.stream),
    }));
    await tx.insertInto("pipeline_streams").values(rows).execute();
  }
  const names = `[${[...known].join(",")}]`;
  await tx
    .insertInto("pipeline_catalogs")
    .values({ pipeline_id: pipelineId, known: names })
    .onConflict((conflict) => conflict.column("pipeline_id").doUpdateSet({ known: names }))
    .execute();
  return await tx
    .updateTable("pipelines")
    .set((eb) => ({
      stream_count: agreed.length,
      selection_version: eb("selection_version", "+", 1),
    }))
    .where("id", "=", pipelineId)
    .returning("selection_version")
    .executeTakeFirstOrThrow();
}

/**
 * Streams that were to be read from the beginning have been: from now on their saved state counts.
 * @param version of the selection that they were read by: what was agreed since wants more
 */
export async function noteRestarted(
  db: Kysely<Tables>,
  pipelineId: string,
  version: number,
  streams: readonly StreamDescriptor[],
): Promise<void> {
  const done = new Set(streams.map(identityOf));
  await db.transaction().execute(async (tx) => {
    const held = await tx
      .selectFrom("pipelines")
      .select("id")
      .where("id", "=", pipelineId)
      .where("selection_version", "=", version)
      .forUpdate()
      .executeTakeFirst();
    if (!held) return;
    const marked = await tx
      .selectFrom("pipeline_streams")
      .select(["position", "namespace", "name"])
      .where("pipeline_id", "=", pipelineId)
      .where("is_restart", "=", true)
      .execute();
    const positions = marked
      .filter(({ name, namespace }) =>
        done.has(identityOf({ name, ...(namespace === null ? {} : { namespace }) })),
      )
      .map(({ position }) => position);
    if (positions.length === 0) return;
    await tx
      .updateTable("pipeline_streams")
      .set({ is_restart: false })
      .where("pipeline_id", "=", pipelineId)
      .where("position", "in", positions)
      .execute();
  });
}
