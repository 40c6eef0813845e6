/**
 * The way of an approval to its end, one step at a time: each step is one statement that only one
 * process can win.
 *
 *   pending ─decide─▶ approved ─take─▶ executing ─settle─▶ executed | failed
 */
import type { Caller } from "../contract/operation.ts";
import { ControlError } from "../contract/reasons.ts";
import type { Services } from "../services/services.ts";
import { announce, type Execution, prepare, settle } from "./carry-out.ts";
import { auditBySystem, expireDue } from "./close.ts";
import { leaseMs, takeLease } from "./lease.ts";
import { requirePermission } from "./proposer.ts";
import { findProposable, type Occasion, revalidate } from "./revalidate.ts";
import { type ApprovalRow, findApproval } from "./rows.ts";

/** How often somebody who waits for another process looks. */
const lookEveryMs = 100;

export interface Decision {
  readonly by: Caller;
  readonly comment: string | undefined;
}

/** Ended already, or to be carried out here. */
export type Step = { readonly ended: ApprovalRow } | { readonly execution: Execution };

/**
 * Brings an approval as far as one can without writing its effect. Who comes while another process
 * carries it out waits for that one; when it has died, its place is taken.
 * @param decision undefined: only what was decided is brought on
 * @throws what `revalidate` and the decision refuse: the approval stays pending then
 */
export async function advance(
  occasion: Occasion,
  { workspaceId, id }: { readonly workspaceId: string; readonly id: string },
  decision?: Decision,
  signal?: AbortSignal,
): Promise<Step> {
  const { services } = occasion;
  for (;;) {
    const row = await findApproval(services.database.db, workspaceId, id);
    if (row.status === "pending" && decision) {
      if (row.expires_at.getTime() <= services.clock.now()) {
        await expireDue(services, workspaceId);
        throw new ControlError("approval_expired");
      }
      requireDecider(services, row, decision.by);
      const proposal = await revalidate(occasion, row).catch(async (refusal: unknown) => {
        if (!(await isApproved(services, row))) throw refusal;
      });
      // Its subject was changed by this very approval, which another server has carried out
      // meanwhile.
      if (!proposal) continue;
      const approved = await decide(services, row, decision);
      const taken = approved && (await takeLease(services, approved));
      if (taken) return { execution: await prepare(occasion, taken, proposal) };
    } else if (row.status === "approved") {
      const taken = await takeLease(services, row);
      if (taken) return { execution: await prepare(occasion, taken) };
    } else if (row.status === "executing") {
      if (isAlive(services, row)) await services.clock.sleep(lookEveryMs, signal);
      else {
        const taken = await takeLease(services, row);
        if (taken && isRepeatable(services, row))
          return { execution: await prepare(occasion, taken) };
        const failure = new ControlError("outcome_unknown");
        if (taken) return { execution: { row: taken, occasion, failure } };
      }
    } else return { ended: row };
  }
}

/**
 * Brings on what was decided and left behind, and closes what has waited for too long. Any number
 * of servers may do it at once.
 */
export async function sweepApprovals(
  services: Services,
  occasionOf: () => Occasion,
): Promise<void> {
  await expireDue(services);
  const { db } = services.database;
  const dead = new Date(services.clock.now() - leaseMs);
  const left = await db
    .selectFrom("approvals")
    .select(["id", "workspace_id"])
    .where((eb) =>
      eb.or([
        eb.and([eb("status", "=", "approved"), eb("decided_at", "<", dead)]),
        eb.and([
          eb("status", "=", "executing"),
          eb("lease_until", "<", new Date(services.clock.now())),
        ]),
      ]),
    )
    .limit(100)
    .execute();
  for (const { id, workspace_id: workspaceId } of left) {
    // One that cannot be brought on does not keep the others back.
    await bringOn(occasionOf(), { workspaceId, id }).catch(() => {
      services.log.error("an approval could not be brought on", { approval_id: id });
    });
  }
}

async function bringOn(
  occasion: Occasion,
  which: { readonly workspaceId: string; readonly id: string },
) {
  const { services } = occasion;
  const step = await advance(occasion, which);
  if ("ended" in step) return;
  const row = await services.database.db.transaction().execute(async (tx) => {
    const settled = await settle(tx, step.execution);
    const result = { outcome: "success", summary: "Carry on with what was approved" } as const;
    await auditBySystem(tx, settled, "approval.approve", result, new Date(services.clock.now()));
    return settled;
  });
  await announce(step.execution, row.result);
}

/** @throws permission_denied, distinct_approver_required */
function requireDecider(services: Services, row: ApprovalRow, by: Caller): void {
  requirePermission(findProposable(services, row), by, row.workspace_id);
  if (row.requires_distinct_approver && by.user.id === row.requested_by)
    throw new ControlError("distinct_approver_required");
}

/** Undefined: somebody else was first, or its time has just ended. */
async function decide({ database, clock }: Services, row: ApprovalRow, { by, comment }: Decision) {
  const now = new Date(clock.now());
  return await database.db
    .updateTable("approvals")
    .set({
      status: "approved",
      decided_by: by.user.id,
      decided_at: now,
      decision_comment: comment ?? null,
    })
    .where("id", "=", row.id)
    .where("status", "=", "pending")
    .where("expires_at", ">", now)
    .returningAll()
    .executeTakeFirst();
}

async function isApproved(
  { database: { db } }: Services,
  { workspace_id, id }: ApprovalRow,
): Promise<boolean> {
  const { status } = await findApproval(db, workspace_id, id);
  return (
    status !== "pending" && status !== "cancelled" && status !== "expired" && status !== "rejected"
  );
}

const isAlive = ({ clock }: Services, { lease_until }: ApprovalRow): boolean =>
  lease_until !== null && lease_until.getTime() > clock.now();

/**
 * Whether it may be begun again after a process has died in it: nothing of it is in the database
 * then.
 */
function isRepeatable(services: Services, row: ApprovalRow): boolean {
  const operation = services.operations.find(({ id }) => id === row.operation);
  if (operation?.effect !== "write") return operation !== undefined;
  return !operation.prepare || row.is_held || operation.isRepeatable === true;
}
