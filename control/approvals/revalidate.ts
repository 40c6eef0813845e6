import type { SecretRegistry } from "svc-connectors/host";
import type {
  ComputeOperation,
  Operation,
  OperationContext,
  WriteOperation,
} from "../contract/operation.ts";
import { ControlError } from "../contract/reasons.ts";
import { compileOperation } from "../door/compile.ts";
import type { Services } from "../services/services.ts";
import { closeBySystem } from "./close.ts";
import { toInput } from "./payload.ts";
import { findProposer } from "./proposer.ts";
import type { ApprovalRow } from "./rows.ts";
import { findTarget } from "./targets.ts";

/** A proposal that can be carried out as far as can be seen now. */
export interface OpenProposal {
  readonly operation: WriteOperation | ComputeOperation;
  /** The context as if the proposer had sent the request now. */
  readonly ctx: OperationContext;
  readonly input: never;
  /** The findings of the operation's guard. */
  readonly found: unknown;
}

/** The request that makes this happen. */
export interface Occasion {
  readonly services: Services;
  readonly requestId: string;
  readonly secrets: SecretRegistry;
}

/**
 * Makes the request anew from what is kept of it, and looks at everything that may have changed
 * since it was proposed: the proposer's permission, the schema, the resource, and whatever the
 * operation itself refuses.
 * @throws requester_no_longer_permitted, payload_changed, validation_failed, resource_changed (when
 * it is gone, the proposal is cancelled), and what the operation's guard refuses
 */
export async function revalidate(occasion: Occasion, row: ApprovalRow): Promise<OpenProposal> {
  const { services, requestId, secrets } = occasion;
  const { db } = services.database;
  const now = new Date(services.clock.now());
  const operation = findProposable(services, row);
  const caller = await findProposer(db, row, operation);
  const input = await toInput(db, services.vault, operation, row);
  validate(operation, input, row);
  await requireUnchanged(services, row, now);
  const ctx: OperationContext = {
    services,
    db,
    caller,
    requestId,
    workspaceId: row.workspace_id,
    now,
    secrets,
    // Whoever approves may go away meanwhile: what was decided is done.
    signal: new AbortController().signal,
    // The version that counts is the one at which it was proposed.
    expectVersion: () => undefined,
    setHeader: () => undefined,
  };
  const found = row.is_held ? undefined : await guard(operation, ctx, input as never);
  return { operation, ctx, input: input as never, found };
}

/** @throws validation_failed when there is no such operation any more */
export function findProposable({ operations }: Services, { operation: id }: ApprovalRow) {
  const operation = operations.find((one) => one.id === id);
  if (!operation || operation.effect === "read") throw new ControlError("validation_failed");
  return operation;
}

function validate(
  operation: Operation,
  { params, query, body }: Awaited<ReturnType<typeof toInput>>,
  row: ApprovalRow,
) {
  const compiled = compileOperation(operation);
  try {
    compiled.params(params);
    compiled.query(query);
    if (!row.is_held) compiled.body(body);
  } catch (error) {
    if (error instanceof ControlError) throw new ControlError("validation_failed", error.details);
    throw error;
  }
}

async function requireUnchanged(services: Services, row: ApprovalRow, now: Date): Promise<void> {
  const { db } = services.database;
  const target = await findTarget(db, row.workspace_id, row.params).catch(
    async (error: unknown) => {
      if (!(error instanceof ControlError)) throw error;
      await closeBySystem(services, row.workspace_id, row.id, "cancelled", now);
      throw new ControlError("resource_changed", {
        problem: "it does not exist any more",
        status: "cancelled",
      });
    },
  );
  if (target && target.version !== row.resource_version)
    throw new ControlError("resource_changed", {
      version: target.version,
      proposed_version: row.resource_version,
    });
}

/**
 * To who approves, what the proposer would be told reads differently: they lack nothing, and the
 * approval does exist.
 */
async function guard(
  operation: WriteOperation | ComputeOperation,
  ctx: OperationContext,
  input: never,
): Promise<unknown> {
  try {
    return await operation.guard?.(ctx, input);
  } catch (error) {
    if (!(error instanceof ControlError)) throw error;
    if (error.status === 403)
      throw new ControlError("requester_no_longer_permitted", { problem: error.reason });
    if (error.status === 404)
      throw new ControlError("resource_changed", {
        problem: "it does not exist any more",
        ...error.details,
      });
    throw error;
  }
}
