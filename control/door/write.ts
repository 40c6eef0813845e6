import type { OperationContext, Outcome, WriteOperation } from "../contract/operation.ts";
import { ControlError } from "../contract/reasons.ts";
import type { Db } from "../store/database.ts";
import { dataText, etagOf, keptData } from "./answer.ts";
import { appendAudit, toEntry } from "./audit.ts";
import { basePath } from "./base-path.ts";
import { compileOperation } from "./compile.ts";
import type { Persist, Result } from "./once.ts";

/**
 * Prepares outside of the transaction; in it, the effect, its audit entry and what else is to be
 * kept (the answer for an Idempotency-Key, the end of an approval) happen together or not at all.
 */
export async function write(
  operation: WriteOperation,
  ctx: OperationContext,
  input: never,
  found: unknown,
  persist?: Persist,
): Promise<Result> {
  const prepared = operation.prepare ? await operation.prepare(ctx, input, found) : found;
  // Nobody waits any more: what has not been written is left.
  if (ctx.signal.aborted && !operation.mustFinish) throw new ControlError("overloaded");
  const { caller, requestId, now } = ctx;
  const compiled = compileOperation(operation);
  const toResult = (outcome: Outcome<object>): Result => {
    const { status } = operation;
    const { data } = outcome;
    return {
      status,
      data,
      text: dataText(compiled, ctx, status, data),
      headers: headersOf(outcome),
    };
  };
  const keep = async (db: Db, { data, ...outcome }: Outcome<object>) =>
    await persist?.(db, toResult({ ...outcome, data: keptData(operation, data) }));
  const { outcome, result } = await ctx.db.transaction().execute(async (tx) => {
    const outcome = await operation.commit(tx, ctx, input, prepared);
    // A write that cannot be answered is not done.
    const result = toResult(outcome);
    await keep(tx, outcome);
    const { resourceId, approvalId, remark, workspaceIds = [] } = outcome;
    const own = operation.workspace === "none" ? [] : [ctx.workspaceId];
    for (const workspaceId of [...new Set([...own, ...workspaceIds])].toSorted()) {
      const summary = [operation.summary, remark].filter((part) => part !== undefined).join(": ");
      const entry = {
        outcome: "success",
        resource_id: resourceId,
        summary,
        approval_id: approvalId,
      } as const;
      await appendAudit(tx, toEntry(operation, { caller, workspaceId, requestId, now }, entry));
    }
    return { outcome, result };
  });
  if (!operation.announce) return result;
  const data = await announced(
    operation.announce(ctx, input, outcome.data as never, prepared),
    outcome.data,
    ctx,
  );
  await keep(ctx.db, { ...outcome, data });
  return toResult({ ...outcome, data });
}

/** Announces. The write stands, whatever comes of that. */
function announced(
  announcement: Promise<object>,
  data: object,
  { services, requestId }: OperationContext,
) {
  return announcement.catch(() => {
    services.log.error("what was written could not be announced", { request_id: requestId });
    return data;
  });
}

function headersOf({
  data,
  location,
}: {
  readonly data: object;
  readonly location?: string | undefined;
}): Record<string, string> {
  const etag = etagOf(data);
  return { ...(location ? { location: `${basePath}${location}` } : {}), ...(etag ? { etag } : {}) };
}
