import { toPayload } from "../approvals/payload.ts";
import { findPolicy } from "../approvals/policies.ts";
import { sealOwner, toApproval } from "../approvals/rows.ts";
import { findTarget } from "../approvals/targets.ts";
import { Approval } from "../contract/approval.ts";
import { createId } from "../contract/ids.ts";
import {
  type ComputeOperation,
  defineWrite,
  type Operation,
  type WriteOperation,
} from "../contract/operation.ts";

/** How long a proposal waits for a decision. */
const lifetimeMs = 7 * 24 * 3_600_000;

const proposals = new WeakMap<Operation, WriteOperation>();

/**
 * The operation that keeps a request for `operation`, as it was validated, for a person to decide
 * about.
 */
export function proposalOf(operation: WriteOperation | ComputeOperation): WriteOperation {
  const known = proposals.get(operation);
  if (known) return known;
  const made = defineProposal(operation) as WriteOperation;
  proposals.set(operation, made);
  return made;
}

function defineProposal(operation: WriteOperation | ComputeOperation): Operation {
  const { hold, prepare } = operation.effect === "write" ? operation : {};
  const category = operation.effect === "write" ? operation.category : undefined;
  return defineWrite({
    id: "approval.create",
    area: "Approvals",
    method: operation.method,
    path: operation.path,
    summary: `Propose: ${operation.summary}`,
    permission: operation.permission,
    status: 202,
    resource: "approval",
    data: Approval,
    errors: [],
    ...(hold && prepare
      ? { mustFinish: true, prepare: (ctx, input, found) => prepare(ctx, input, found) }
      : {}),
    async commit(tx, ctx, input, prepared) {
      const { services, workspaceId, caller, now } = ctx;
      const target = await findTarget(tx, workspaceId, input.params as Record<string, string>);
      if (typeof target?.version === "number") ctx.expectVersion(target.version);
      const id = createId("approval");
      const held = await hold?.stage(tx, ctx, input, prepared);
      const owner = { id, workspace_id: workspaceId };
      const { payload, secrets } = toPayload(owner, operation, input as never, held);
      if (secrets.length > 0)
        await services.vault.put(tx, sealOwner(owner), 0, { values: secrets });
      const policy = category && (await findPolicy(tx, workspaceId, category));
      const row = await tx
        .insertInto("approvals")
        .values({
          ...owner,
          ...payload,
          params: JSON.stringify(payload.params),
          query: JSON.stringify(payload.query),
          body: JSON.stringify(payload.body),
          sealed_paths: JSON.stringify(payload.sealed_paths),
          operation: operation.id,
          category: category ?? null,
          status: "pending",
          source: caller.client,
          summary: operation.summary,
          resource_type:
            operation.effect === "write" ? operation.resource : operation.area.toLowerCase(),
          resource_id: target?.id ?? null,
          resource_version: target?.version ?? null,
          requires_distinct_approver: policy?.require_distinct_approver ?? false,
          requested_by: caller.user.id,
          session_id: caller.session.id,
          created_at: now,
          expires_at: new Date(now.getTime() + lifetimeMs),
        })
        .returningAll()
        .executeTakeFirstOrThrow();
      return {
        data: toApproval(row),
        resourceId: id,
        approvalId: id,
        location: `/approvals/${id}`,
      };
    },
  });
}
