/** The effect of an approved proposal: prepared under a lease, written once. */
import { sql, type Transaction } from "kysely";
import type { OperationContext } from "../contract/operation.ts";
import { ControlError } from "../contract/reasons.ts";
import { keptData } from "../door/answer.ts";
import { appendAudit, toEntry } from "../door/audit.ts";
import { compileOperation } from "../door/compile.ts";
import { toControlError } from "../door/to-control-error.ts";
import type { Tables } from "../store/tables.ts";
import { changesOf, type ProposedChanges } from "./changes.ts";
import { auditBySystem, discard } from "./close.ts";
import { withLease } from "./lease.ts";
import { type Occasion, type OpenProposal, revalidate } from "./revalidate.ts";
import type { ApprovalRow } from "./rows.ts";
import { findTarget } from "./targets.ts";

/** An approval that this process carries out: it holds the lease. */
export interface Execution {
  readonly row: ApprovalRow;
  readonly occasion: Occasion;
  /** Undefined: the request could not even be made anew; `failure` says why. */
  readonly proposal?: OpenProposal | undefined;
  readonly prepared?: unknown | undefined;
  /** The differences from how things are now, field by field: afterwards there are none. */
  readonly changes?: ProposedChanges | undefined;
  readonly failure?: ControlError | undefined;
}

/**
 * Does what asks others. Whatever goes wrong is the outcome of the approval.
 * @param proposal as it was validated just now
 */
export async function prepare(
  occasion: Occasion,
  row: ApprovalRow,
  proposal?: OpenProposal,
): Promise<Execution> {
  const { services } = occasion;
  let opened = proposal;
  try {
    opened ??= await revalidate(occasion, row);
    const { operation, ctx, input, found } = opened;
    const changes = await changesOf(ctx, operation, row);
    const prepared = await withLease(services, row, async () => {
      if (operation.effect === "compute") return await operation.run(ctx, input, found);
      if (row.is_held || !operation.prepare) return found;
      return await operation.prepare(ctx, input, found);
    });
    return { row, occasion, proposal: opened, prepared, changes };
  } catch (thrown) {
    const failure = toControlError(thrown, services.log, { approval_id: row.id });
    return { row, occasion, failure, proposal: opened };
  }
}

/**
 * Writes the effect, what became of the approval, and the audit entry, all in the transaction. An
 * effect that is refused leaves no trace of itself, and the approval has failed.
 * @throws overloaded when the lease was lost to another process
 */
export async function settle(tx: Transaction<Tables>, execution: Execution): Promise<ApprovalRow> {
  const { row, occasion, proposal } = execution;
  const { services } = occasion;
  const now = new Date(services.clock.now());
  await requireLease(tx, row);
  const effect = await attempt(tx, execution);
  const isFailure = effect instanceof ControlError;
  if (isFailure) await discard(tx, services, row, now);
  else await services.vault.shred(tx, row.id);
  const settled = await tx
    .updateTable("approvals")
    .set({
      status: isFailure ? "failed" : "executed",
      lease_until: null,
      result:
        isFailure || !proposal
          ? null
          : compileOperation(proposal.operation).stringify(
              keptData(proposal.operation, effect.data),
            ),
      changes: isFailure || !execution.changes ? null : JSON.stringify(execution.changes),
      error: isFailure ? JSON.stringify(toError(effect)) : null,
    })
    .where("id", "=", row.id)
    .where("workspace_id", "=", row.workspace_id)
    .returningAll()
    .executeTakeFirstOrThrow();
  await audit(tx, execution, settled, effect, now);
  return settled;
}

/**
 * Tells others of what was written, and keeps what became of it with the result. Undefined: there
 * is nothing to tell.
 */
export async function announce(
  { row, proposal, prepared, occasion }: Execution,
  result: object | null,
): Promise<ApprovalRow | undefined> {
  if (
    proposal?.operation.effect !== "write" ||
    !proposal.operation.announce ||
    !result ||
    row.is_held
  )
    return undefined;
  const { operation, ctx, input } = proposal;
  const data = await proposal.operation.announce(ctx, input, result as never, prepared);
  return await occasion.services.database.db
    .updateTable("approvals")
    .set({ result: compileOperation(operation).stringify(keptData(operation, data)) })
    .where("id", "=", row.id)
    .where("workspace_id", "=", row.workspace_id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** The effect's own entry: as if the proposer had asked for it, with the approval. */
async function audit(
  tx: Transaction<Tables>,
  { row, proposal }: Execution,
  { summary }: ApprovalRow,
  effect: Effect | ControlError,
  now: Date,
): Promise<void> {
  const [outcome, words] =
    effect instanceof ControlError
      ? (["failure", `${summary}: ${effect.reason}`] as const)
      : (["success", summary] as const);
  if (!proposal)
    return await auditBySystem(tx, row, row.operation, { outcome, summary: words }, now);
  const { caller, workspaceId: own, requestId } = proposal.ctx;
  const isFailure = effect instanceof ControlError;
  const resource_id = isFailure ? row.resource_id : effect.resourceId;
  const result = { outcome, resource_id, summary: words, approval_id: row.id };
  const others = (!isFailure && effect.workspaceIds) || [];
  for (const workspaceId of [...new Set([own, ...others])].toSorted())
    await appendAudit(
      tx,
      toEntry(proposal.operation, { caller, workspaceId, requestId, now }, result),
    );
}

interface Effect {
  readonly data: object;
  readonly resourceId: string | null;
  readonly workspaceIds?: readonly string[] | undefined;
}

async function attempt(
  tx: Transaction<Tables>,
  execution: Execution,
): Promise<Effect | ControlError> {
  const { row, proposal, failure, occasion } = execution;
  if (failure || !proposal) return failure ?? new ControlError("internal");
  await sql`SAVEPOINT effect`.execute(tx);
  try {
    const target = await findTarget(tx, row.workspace_id, row.params, { lock: true });
    if (target && target.version !== row.resource_version)
      throw new ControlError("resource_changed");
    const effect = await commit(tx, execution, proposal);
    await sql`RELEASE SAVEPOINT effect`.execute(tx);
    return effect;
  } catch (thrown) {
    await sql`ROLLBACK TO SAVEPOINT effect`.execute(tx);
    return toControlError(thrown, occasion.services.log, { approval_id: row.id });
  }
}

async function commit(
  tx: Transaction<Tables>,
  { row, prepared }: Execution,
  { operation, ctx, input }: OpenProposal,
): Promise<Effect> {
  if (operation.effect === "compute") return { data: prepared as object, resourceId: null };
  if (!row.is_held) return await operation.commit(tx, ctx as OperationContext, input, prepared);
  if (!operation.hold) throw new ControlError("validation_failed");
  return await operation.hold.apply(tx, ctx, row.body as never);
}

/** Locks the row. Another process may have thought this one dead. */
async function requireLease(tx: Transaction<Tables>, { id, lease_id }: ApprovalRow): Promise<void> {
  const held = await tx
    .selectFrom("approvals")
    .select("id")
    .where("id", "=", id)
    .where("status", "=", "executing")
    .where("lease_id", "=", lease_id)
    .forUpdate()
    .executeTakeFirst();
  if (!held) throw new ControlError("overloaded", {}, { "retry-after": "1" });
}

const toError = ({ status, reason, message }: ControlError) => ({
  code: String(status),
  reason,
  message,
});
