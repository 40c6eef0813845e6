import { createHash, randomUUID } from "node:crypto";
import type { Selectable } from "kysely";
import { createId } from "../contract/ids.ts";
import type { Caller, Operation } from "../contract/operation.ts";
import { ControlError } from "../contract/reasons.ts";
import type { Db } from "../store/database.ts";
import type { Tables } from "../store/tables.ts";

export type AuditEntry = Omit<Selectable<Tables["audit_logs"]>, "id" | "index" | "hash">;

/** The hash before the first entry. */
export const chainStart = "0".repeat(64);

/**
 * Adds an entry at the end of its workspace's chain. Run it in the transaction of what it tells of,
 * as its last statement: the chain's end stays locked until the transaction ends.
 */
export async function appendAudit(db: Db, entry: AuditEntry): Promise<void> {
  await db
    .insertInto("audit_heads")
    .values({ workspace_id: entry.workspace_id, index: 0, hash: chainStart })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const head = await db
    .selectFrom("audit_heads")
    .select(["index", "hash"])
    .where("workspace_id", "=", entry.workspace_id)
    // A workspace that was deleted while this was being written is not there to be written to.
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom("workspaces")
            .select("id")
            .where("id", "=", entry.workspace_id)
            .where("deleted_at", "is not", null),
        ),
      ),
    )
    .forUpdate()
    .executeTakeFirst();
  if (!head) throw new ControlError("not_found", { resource: "workspace" });
  const row = { ...entry, id: createId("audit"), index: head.index + 1 };
  const hash = hashEntry(head.hash, row);
  await db
    .insertInto("audit_logs")
    .values({ ...row, hash })
    .execute();
  await db
    .updateTable("audit_heads")
    .set({ index: row.index, hash })
    .where("workspace_id", "=", entry.workspace_id)
    .execute();
}

/** SHA-256 over the hash before and every field of the entry, in the order of their names. */
export function hashEntry(
  previous: string,
  entry: Omit<Selectable<Tables["audit_logs"]>, "hash">,
): string {
  const fields = Object.entries(entry)
    .filter(([name]) => name !== "hash")
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, value]) => [name, value instanceof Date ? value.toISOString() : value]);
  return createHash("sha256")
    .update(JSON.stringify([previous, fields]))
    .digest("hex");
}

/** The part of an entry that says who asked. An operator is nobody's account. */
export function actorOf({ kind, user, client, ip, userAgent }: Caller) {
  const actor =
    kind === "operator"
      ? ({ actor_type: "system", actor_id: null, actor_display: user.name } as const)
      : ({ actor_type: "user", actor_id: user.id, actor_display: user.email } as const);
  return { ...actor, client, ip, user_agent: userAgent?.slice(0, 300) ?? null };
}

/** An entry about what svc has done by itself. */
export const systemEntry = (
  workspaceId: string,
  now: Date,
  result: Pick<AuditEntry, "action" | "resource_type" | "resource_id" | "outcome" | "summary"> & {
    readonly approval_id?: string | undefined;
  },
): AuditEntry => ({
  workspace_id: workspaceId,
  occurred_at: now,
  actor_type: "system",
  actor_id: null,
  actor_display: "svc",
  client: "api",
  request_id: randomUUID(),
  ip: null,
  user_agent: null,
  ...result,
  approval_id: result.approval_id ?? null,
});

export interface AuditedRequest {
  readonly caller: Caller;
  readonly workspaceId: string;
  readonly requestId: string;
  readonly now: Date;
}

/** The entry of an attempt. It says what was done to what, never with which values. */
export function toEntry(
  operation: Operation,
  { caller, workspaceId, requestId, now }: AuditedRequest,
  {
    approval_id = null,
    ...result
  }: Pick<AuditEntry, "outcome" | "resource_id" | "summary"> & {
    readonly approval_id?: string | null | undefined;
  },
): AuditEntry {
  return {
    workspace_id: workspaceId,
    occurred_at: now,
    ...actorOf(caller),
    action: operation.id,
    resource_type: operation.effect === "write" ? operation.resource : operation.area.toLowerCase(),
    request_id: requestId,
    approval_id,
    ...result,
  };
}
