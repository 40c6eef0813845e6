import type { Kysely } from "kysely";
import { appendAudit, systemEntry } from "../door/audit.ts";
import type { Db } from "../store/database.ts";
import type { Tables } from "../store/tables.ts";

/** Entries of one statement. */
const batchRows = 500;

/**
 * Deletes the oldest entries of each audit log. The hash of the last one that goes is kept as the
 * chain's anchor, and stands in an entry of its own at the chain's end: what is left is verified
 * from there.
 * @returns how many entries have gone
 */
export async function pruneAudit(
  db: Kysely<Tables>,
  cutoff: Date,
  now: Date,
  signal: AbortSignal,
): Promise<number> {
  const heads = await db.selectFrom("audit_heads").select("workspace_id").execute();
  let total = 0;
  for (const { workspace_id: workspaceId } of heads) {
    if (signal.aborted) break;
    await db.transaction().execute((tx) => moveAnchor(tx, workspaceId, cutoff, now));
    total += await deleteBefore(db, workspaceId, signal);
  }
  return total;
}

/** The anchor goes first: from then on everything up to it may be missing. */
async function moveAnchor(tx: Db, workspaceId: string, cutoff: Date, now: Date): Promise<void> {
  // Who adds an entry, or moves the anchor, waits.
  const head = await tx
    .selectFrom("audit_heads")
    .select("index")
    .where("workspace_id", "=", workspaceId)
    .forUpdate()
    .executeTakeFirst();
  const young = await tx
    .selectFrom("audit_logs")
    .select((eb) => eb.fn.min("index").as("index"))
    .where("workspace_id", "=", workspaceId)
    .where("occurred_at", ">=", cutoff)
    .executeTakeFirst();
  // Of a log that nothing was added to for so long, the last entry stays.
  const last = (young?.index ?? head?.index ?? 0) - 1;
  const entry = await tx
    .selectFrom("audit_logs")
    .select(["index", "hash"])
    .where("workspace_id", "=", workspaceId)
    .where("index", "=", last)
    .executeTakeFirst();
  const anchor = await tx
    .selectFrom("audit_anchors")
    .select("index")
    .where("workspace_id", "=", workspaceId)
    .executeTakeFirst();
  if (!entry || entry.index <= (anchor?.index ?? 0)) return;
  const moved = { ...entry, anchored_at: now };
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
      summary: `Delete the audit log up to ${entry.index}:${entry.hash}`,
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
