import { randomBytes } from "node:crypto";
import type { Services } from "../services/services.ts";
import type { ApprovalRow } from "./rows.ts";

/** After this time without a sign of life, whoever carried an approval out counts as dead. */
export const leaseMs = 30_000;

/**
 * Takes the approval for carrying it out, when it is still as `row` says: approved, or left by one
 * who has died. Gives it with the lease; undefined when somebody else was first.
 */
export async function takeLease(
  { database, clock }: Services,
  row: ApprovalRow,
): Promise<ApprovalRow | undefined> {
  return await database.db
    .updateTable("approvals")
    .set({ status: "executing", ...newLease(clock.now()) })
    .where("id", "=", row.id)
    .where("status", "=", row.status)
    .where("lease_id", "is not distinct from", row.lease_id)
    .returningAll()
    .executeTakeFirst();
}

/** Runs `work`; meanwhile the lease is renewed. */
export async function withLease<T>(
  { database, clock }: Services,
  row: ApprovalRow,
  work: () => Promise<T>,
): Promise<T> {
  const ended = new AbortController();
  const renew = async () => {
    for (;;) {
      await clock.sleep(leaseMs / 3, ended.signal);
      await database.db
        .updateTable("approvals")
        .set({ lease_until: leaseEnd(clock.now()) })
        .where("id", "=", row.id)
        .where("lease_id", "=", row.lease_id)
        .where("status", "=", "executing")
        .execute();
    }
  };
  // Ends when the work does. A database that is away for a moment makes the lease end early: then
  // nothing is written twice.
  const renewing = renew().catch(() => undefined);
  try {
    return await work();
  } finally {
    ended.abort();
    await renewing;
  }
}

const newLease = (nowMs: number) => ({
  lease_id: randomBytes(9).toString("base64url"),
  lease_until: leaseEnd(nowMs),
});
const leaseEnd = (nowMs: number) => new Date(nowMs + leaseMs);
