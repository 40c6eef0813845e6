/**
 * The audit log as it is chained, for who keeps a copy elsewhere: with every entry the hash over it
 * and all before it, so that the copy can be verified without this server.
 */
import { type Static, Type } from "typebox";
import { ControlError } from "../contract/reasons.ts";
import { Nullable, OneOf, StrictObject, Time } from "../contract/schemas.ts";
import { type AuditEntry, chainStart } from "../door/audit.ts";
import type { Db } from "../store/database.ts";
import { clients } from "../store/tables.ts";
import type { AuditPlace } from "./verify.ts";

const Hash = Type.String({ title: "AuditHash", pattern: "^[0-9a-f]{64}$" });
const Index = Type.Integer({ minimum: 0 });

/** The fields that the hash is over, under the names that it knows them by. */
const ChainedEntry = StrictObject(
  {
    action: Type.String(),
    actor_display: Type.String(),
    actor_id: Nullable(Type.String()),
    actor_type: OneOf(["user", "system"]),
    approval_id: Nullable(Type.String()),
    client: OneOf(clients),
    id: Type.String(),
    index: Index,
    ip: Nullable(Type.String()),
    occurred_at: Time,
    outcome: OneOf(["success", "failure", "denied"]),
    request_id: Type.String(),
    resource_id: Nullable(Type.String()),
    resource_type: Type.String(),
    summary: Type.String(),
    user_agent: Nullable(Type.String()),
    workspace_id: Type.String(),
  },
  { title: "ChainedAuditEntry" },
);

export const AuditExportLine = StrictObject(
  {
    kind: OneOf(["begin", "entry", "end"], {
      description:
        "begin: the first line, with the place after which the entries stand · end: the last one, with the place that was reached. Without it the export is not whole.",
    }),
    workspace_id: Type.Optional(Type.String()),
    entry: Type.Optional(ChainedEntry),
    index: Type.Optional(Index),
    hash: Type.Optional(Hash),
    count: Type.Optional(Index),
  },
  { title: "AuditExportLine" },
);
export type AuditExportLine = Static<typeof AuditExportLine>;

/** Entries that are read at a time. */
const pageSize = 500;

/**
 * Where an export begins: after the entry with this index.
 * @throws not_found when there is none, or it was deleted because of its age
 */
export async function findPlace(db: Db, workspaceId: string, after: number): Promise<AuditPlace> {
  const anchor = await db
    .selectFrom("audit_anchors")
    .select(["index", "hash"])
    .where("workspace_id", "=", workspaceId)
    .executeTakeFirst();
  if (after === 0) return anchor ?? { index: 0, hash: chainStart };
  if (anchor?.index === after) return anchor;
  const entry = await db
    .selectFrom("audit_logs")
    .select(["index", "hash"])
    .where("workspace_id", "=", workspaceId)
    .where("index", "=", after)
    .executeTakeFirst();
  if (!entry) throw new ControlError("not_found", { resource: "audit_log" });
  return entry;
}

/**
 * Reads the entries between two places, page by page. A place where one is missing breaks the
 * export off: it is no copy of the log.
 */
export function readChain(db: Db, workspaceId: string, begin: AuditPlace, endIndex: number) {
  let place = begin;
  let isBegun = false;
  return async (): Promise<{ readonly lines: AuditExportLine[]; readonly isOver: boolean }> => {
    const lines: AuditExportLine[] = [];
    if (!isBegun) lines.push({ kind: "begin", workspace_id: workspaceId, ...begin });
    isBegun = true;
    const rows = await db
      .selectFrom("audit_logs")
      .selectAll()
      .where("workspace_id", "=", workspaceId)
      .where("index", ">", place.index)
      .where("index", "<=", endIndex)
      .orderBy("index")
      .limit(pageSize)
      .execute();
    for (const { hash, ...row } of rows) {
      if (row.index !== place.index + 1) throw new ControlError("internal");
      lines.push({ kind: "entry", entry: toChained(row), hash });
      place = { index: row.index, hash };
    }
    const isOver = place.index >= endIndex;
    if (!isOver && rows.length === 0) throw new ControlError("internal");
    if (isOver) lines.push({ kind: "end", ...place, count: place.index - begin.index });
    return { lines, isOver };
  };
}

const toChained = (row: AuditEntry & { readonly id: string; readonly index: number }) => ({
  ...row,
  occurred_at: row.occurred_at.toISOString(),
});
