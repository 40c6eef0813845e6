/** The rows of an activation that its destination has confirmed, in the database. */
import type { Db } from "../store/database.ts";
import type { ConfirmedRow, PlannedRow } from "./diff.ts";

/** Rows of one query. */
const pageRows = 5_000;

/**
 * Everything goes again: what was confirmed before this counts as changed, or as if it had never
 * been.
 */
export interface Resync {
  readonly before: Date;
  readonly as: "changed" | "unknown";
}

/** No row has this hash. */
const noHash = "";

/** Every confirmed row, in pages. */
export async function* confirmedRows(
  db: Db,
  activationId: string,
  resync?: Resync,
): AsyncGenerator<readonly ConfirmedRow[]> {
  for (let last: string | undefined; ; ) {
    let query = db
      .selectFrom("reverse_etl_snapshots")
      .select(["key", "row_hash", "identifier", "confirmed_at"])
      .where("activation_id", "=", activationId)
      .orderBy("key")
      .limit(pageRows);
    if (last !== undefined) query = query.where("key", ">", last);
    const rows = await query.execute();
    const isOld = (at: Date) => resync !== undefined && at < resync.before;
    const counting = rows.filter(
      ({ confirmed_at }) => resync?.as !== "unknown" || !isOld(confirmed_at),
    );
    if (counting.length > 0)
      yield counting.map(({ key, row_hash, identifier, confirmed_at }) => ({
        key,
        hash: isOld(confirmed_at) ? noHash : row_hash,
        identifier: identifier === null ? null : JSON.stringify(identifier),
      }));
    last = rows.at(-1)?.key;
    if (rows.length < pageRows) return;
  }
}

/**
 * Notes rows that the destination has taken, in the caller's transaction. A removed one is
 * forgotten.
 */
export async function confirmRows(
  tx: Db,
  activationId: string,
  rows: readonly PlannedRow[],
  now: Date,
): Promise<void> {
  const removed = rows.flatMap(({ key, change }) => (change === "removed" ? [key] : []));
  if (removed.length > 0)
    await tx
      .deleteFrom("reverse_etl_snapshots")
      .where("activation_id", "=", activationId)
      .where("key", "in", removed)
      .execute();
  const kept = rows.filter(({ change }) => change !== "removed");
  if (kept.length === 0) return;
  await tx
    .insertInto("reverse_etl_snapshots")
    .values(
      kept.map(({ key, hash, identifier }) => ({
        activation_id: activationId,
        key,
        row_hash: hash,
        identifier,
        confirmed_at: now,
      })),
    )
    .onConflict((conflict) =>
      conflict.columns(["activation_id", "key"]).doUpdateSet((eb) => ({
        row_hash: eb.ref("excluded.row_hash"),
        identifier: eb.ref("excluded.identifier"),
        confirmed_at: eb.ref("excluded.confirmed_at"),
      })),
    )
    .execute();
}

/** Forgets everything: what was confirmed was confirmed of something else. */
export async function forgetRows(tx: Db, activationId: string): Promise<void> {
  await tx.deleteFrom("reverse_etl_snapshots").where("activation_id", "=", activationId).execute();
  await tx.deleteFrom("reverse_etl_batches").where("activation_id", "=", activationId).execute();
}
