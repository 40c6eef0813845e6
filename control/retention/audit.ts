import type { Kysely } from "kysely";
import { archiveEntries } from "../audit/archive.ts";
import type { AuditPlace } from "../audit/verify.ts";
import { appendAudit, chainStart, systemEntry } from "../door/audit.ts";
import type { Db } from "../store/database.ts";
import type { Tables } from "../store/tables.ts";

/** Entries of one statement. */
const batchRows = 500;
/** Entries of one file of the archive, and of one move of the anchor. */
const archivedEntries = 5_000;

export interface Pruning {
  readonly cutoff: Date;
  readonly now: Date;
  readonly signal: AbortSignal;
  /** The folder of the archive; undefined: what goes is kept nowhere. */
  readonly archive: string | undefined;
  /** Entries of one file. Default 5,000. */
  readonly fileEntries?: number | undefined;
}

/**
 * Takes the oldest entries of each audit log: to files, where there is an archive, and then out of
 * the database. The hash of the last one that goes is kept as the chain's anchor, and stands in an
 * entry of its own at the chain's end: what is left is verified from there.
 * @returns how many entries have gone
 */
export async function pruneAudit(db: Kysely<Tables>, pruning: Pruning): Promise<number> {
  const { signal } = pruning;
  const heads = await db.selectFrom("audit_heads").select("workspace_id").execute();
  let total = 0;
  let failure: unknown;
  for (const { workspace_id: workspaceId } of heads) {
    if (signal.aborted) break;
    // One log that cannot be archived does not keep the others from it.
    await advance(db, workspaceId, pruning).catch((error: unknown) => {
      failure ??= error;
    });
    total += await deleteBefore(db, workspaceId, signal);
  }
  if (failure !== undefined) throw failure;
  return total;
}

/** Moves the anchor to the last entry that is old: in steps, each behind a file of the archive. */
async function advance(
  db: Kysely<Tables>,
  workspaceId: string,
  { cutoff, now, signal, archive, fileEntries = archivedEntries }: Pruning,
): Promise<void> {
  const lastIndex = await lastOld(db, workspaceId, cutoff);
  while (!signal.aborted) {
    const anchor = await anchorOf(db, workspaceId);
    if (lastIndex <= anchor.index) return;
    const endIndex = Math.min(lastIndex, anchor.index + fileEntries);
    const last =
      archive === undefined
        ? await placeAt(db, workspaceId, lastIndex)
        : await archiveEntries(db, archive, { workspaceId, begin: anchor, endIndex });
    // A file that was written when less was to be kept reaches further.
    if (last === undefined || last.index > lastIndex) return;
    const verb = archive === undefined ? "Delete" : "Archive";
    await db.transaction().execute((tx) => moveAnchor(tx, workspaceId, last, { now, verb }));
  }
}

async function lastOld(db: Db, workspaceId: string, cutoff: Date): Promise<number> {
  const young = await db
    .selectFrom("audit_logs")
    .select((eb) => eb.fn.min("index").as("index"))
    .where("workspace_id", "=", workspaceId)
    .where("occurred_at", ">=", cutoff)
    .executeTakeFirst();
  const head = await db
    .selectFrom("audit_heads")
    .select("index")
    .where("workspace_id", "=", workspaceId)
    .executeTakeFirst();
  // Of a log that nothing was added to for so long, the last entry stays.
  return (young?.index ?? head?.index ?? 0) - 1;
}

const anchorOf = async (db: Db, workspaceId: string): Promise<AuditPlace> =>
  (await db
    .selectFrom("audit_anchors")
    .select(["index", "hash"])
    .where("workspace_id", "=", workspaceId)
    .executeTakeFirst()) ?? { index: 0, hash: chainStart };

const placeAt = (db: Db, workspaceId: string, index: number): Promise<AuditPlace | undefined> =>
  db
    .selectFrom("audit_logs")
    .select(["index", "hash"])
    .where("workspace_id", "=", workspaceId)
    .where("index", "=", index)
    .executeTakeFirst();

/** The anchor goes first: from then on everything up to it may be missing. */
async function moveAnchor(
  tx: Db,
  workspaceId: string,
  last: AuditPlace,
  { now, verb }: { readonly now: Date; readonly verb: "Archive" | "Delete" },
): Promise<void> {
  // Who adds an entry, or moves the anchor, waits.
  await tx
    .selectFrom("audit_heads")
    .select("index")
    .where("workspace_id", "=", workspaceId)
    .forUpdate()
    .executeTakeFirst();
  if (last.index <= (await anchorOf(tx, workspaceId)).index) return;
  const moved = { index: last.index, hash: last.hash, anchored_at: now };
  await tx
    .insertInto("audit_anchors")
    .values({ workspace_id: workspaceId, ...moved })
    .onConflict((conflict) => conflict.column("workspace_id").doUpdateSet(moved))
    .execute();
  await appendAudit(
    tx,
    systemEntry(workspaceId, now, {
      action: "audit_log.prune",
      resource_type: "audit_log",
      resource_id: null,
      outcome: "success",
      summary: `${verb} the audit log up to ${last.index}:${last.hash}`,
    }),
  );
}

async function deleteBefore(
  db: Kysely<Tables>,
  workspaceId: string,
  signal: AbortSignal,
): Promise<number> {
  const anchor = db
    .selectFrom("audit_anchors")
    .select("index")
    .where("workspace_id", "=", workspaceId);
  let total = 0;
  while (!signal.aborted) {
    const { numDeletedRows } = await db
      .deleteFrom("audit_logs")
      .where("id", "in", (eb) =>
        eb
          .selectFrom("audit_logs as old")
          .select("old.id")
          .where("old.workspace_id", "=", workspaceId)
          .where("old.index", "<=", anchor)
          .orderBy("old.index")
          .limit(batchRows),
      )
      .executeTakeFirst();
    total += Number(numDeletedRows);
    if (numDeletedRows < batchRows) break;
  }
  return total;
}
