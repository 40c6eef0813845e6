import type { Kysely } from "kysely";
import { chainStart, hashEntry } from "../door/audit.ts";
import type { Db } from "../store/database.ts";
import type { Tables } from "../store/tables.ts";

/** The fault at a place of a chain; everything before it is as it was written. */
export interface AuditFault {
  readonly workspaceId: string;
  /** Counted from 1. */
  readonly index: number;
  /**
   * `missing`: no entry has this index, and there are later ones, or there were. `changed`: the
   * entry is not what was written there. `added`: it was never written by the service. `pruned`:
   * the place that was noted was deleted because of its age, and says nothing any more.
   */
  readonly kind: "missing" | "changed" | "added" | "pruned";
  /** Id of the entry that is there. */
  readonly entryId: string | null;
}

/** A place in a chain: an entry, and the hash over it and all before it. */
export interface AuditPlace {
  readonly index: number;
  readonly hash: string;
}

/** A workspace's chain that is as it was written, and its end. */
export interface AuditChain extends AuditPlace {
  readonly workspaceId: string;
}

export interface AuditVerdict {
  readonly intact: readonly AuditChain[];
  /** The first fault of each broken chain. */
  readonly faults: readonly AuditFault[];
}

/** Entries that are read at a time. */
const pageSize = 1_000;

/**
 * Walks the chain of one workspace, or of all, from its first entry, or from its anchor where older
 * ones were deleted, to its end. Of each it sees one moment; entries may be added meanwhile.
 * @param noted an end of the workspace's chain that was seen before. Whoever owns the database can
 * write a whole chain anew, end and all; what was noted elsewhere they cannot.
 */
export async function verifyAudit(
  db: Kysely<Tables>,
  workspaceId?: string,
  noted?: AuditPlace,
): Promise<AuditVerdict> {
  const intact: AuditChain[] = [];
  const faults: AuditFault[] = [];
  for (const id of workspaceId === undefined ? await workspacesOf(db) : [workspaceId]) {
    const found = await db
      .transaction()
      .setIsolationLevel("repeatable read")
      .execute((tx) => verifyChain(tx, id, noted));
    if ("kind" in found) faults.push(found);
    else intact.push(found);
  }
  return { intact, faults };
}

/** The workspaces with a log, also those of which only one part is left. */
async function workspacesOf(db: Db): Promise<string[]> {
  const rows = await db
    .selectFrom("audit_heads")
    .select("workspace_id")
    .union(db.selectFrom("audit_logs").select("workspace_id"))
    .orderBy("workspace_id")
    .execute();
  return rows.map(({ workspace_id }) => workspace_id);
}

async function verifyChain(
  db: Db,
  workspaceId: string,
  noted?: AuditPlace,
): Promise<AuditChain | AuditFault> {
  const fault = (kind: AuditFault["kind"], index: number, entryId: string | null): AuditFault => ({
    workspaceId,
    index,
    kind,
    entryId,
  });
  const head = (await db
    .selectFrom("audit_heads")
    .select(["index", "hash"])
    .where("workspace_id", "=", workspaceId)
    .executeTakeFirst()) ?? { index: 0, hash: chainStart };
  const anchor = await db
    .selectFrom("audit_anchors")
    .select(["index", "hash"])
    .where("workspace_id", "=", workspaceId)
    .executeTakeFirst();
  let { index, hash } = anchor ?? { index: 0, hash: chainStart };
  // Whoever owns the database can write a whole chain anew, and an anchor that hides it.
  if (noted && noted.index < index) return fault("pruned", noted.index, null);
  if (noted?.index === index && noted.hash !== hash) return fault("changed", index, null);
  for (;;) {
    const rows = await db
      .selectFrom("audit_logs")
      .selectAll()
      .where("workspace_id", "=", workspaceId)
      .where("index", ">", index)
      .orderBy("index")
      .limit(pageSize)
      .execute();
    for (const row of rows) {
      if (row.index > head.index || row.index <= index) return fault("added", row.index, row.id);
      if (row.index !== index + 1) return fault("missing", index + 1, null);
      const { hash: written, ...entry } = row;
      const isNoted = row.index !== noted?.index || written === noted.hash;
      if (hashEntry(hash, entry) !== written || !isNoted)
        return fault("changed", row.index, row.id);
      index = row.index;
      hash = written;
    }
    if (rows.length < pageSize) break;
  }
  if (index < Math.max(head.index, noted?.index ?? 0)) return fault("missing", index + 1, null);
  return hash === head.hash ? { workspaceId, index, hash } : fault("changed", index, null);
}
