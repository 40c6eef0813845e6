import type { OperationContext, WriteOperation } from "../contract/operation.ts";
import { ControlError } from "../contract/reasons.ts";
import { etagOf } from "./answer.ts";
import { appendAudit, toEntry } from "./audit.ts";
import { basePath } from "./base-path.ts";
import { beginIdempotent, endIdempotent, type IdempotencyKey, releaseIdempotent } from "./idempotency.ts";

type Written = { readonly status: number; readonly data: object };

/**
 * Prepares outside of the transaction; in it, the effect, its audit entry and the kept answer happen together or not at all.
 * A request that comes again with its Idempotency-Key gets what the first one got.
 */
export async function write(
  operation: WriteOperation,
  ctx: OperationContext,
  input: never,
  { key, path }: { readonly key: string | undefined; readonly path: string },
): Promise<Written> {
  const idempotent = key === undefined ? undefined : toKey(operation, ctx, key, path);
  if (idempotent) {
    const meaning = ctx.services.mac.of("request", JSON.stringify([idempotent, input]));
    const replay = await beginIdempotent(ctx.db, idempotent, meaning, ctx.now);
    if (replay) {
      for (const [name, value] of Object.entries(replay.headers)) ctx.setHeader(name, value);
      ctx.setHeader("idempotent-replayed", "true");
      return replay;
    }
  }
  try {
    return await prepareAndCommit(operation, ctx, input, idempotent);
  } catch (error) {
    // Nothing was written: the same key may be tried again.
    if (idempotent) await releaseIdempotent(ctx.db, idempotent).catch(() => undefined);
    throw error;
  }
}

async function prepareAndCommit(
  operation: WriteOperation,
  ctx: OperationContext,
  input: never,
  idempotent: IdempotencyKey | undefined,
): Promise<Written> {
  const prepared = await operation.prepare?.(ctx, input);
  const { status } = operation;
  const { data, location } = await ctx.db.transaction().execute(async (tx) => {
    const outcome = await operation.commit(tx, ctx, input, prepared);
    if (idempotent) {
      const kept = { status, data: outcome.data as Record<string, unknown>, headers: headersOf(outcome) };
      await endIdempotent(tx, idempotent, kept);
    }
    if (operation.workspace !== "none") {
      const result = { outcome: "success", resource_id: outcome.resourceId, summary: operation.summary } as const;
      await appendAudit(tx, toEntry(operation, { ...ctx, workspaceId: ctx.workspaceId }, result));
    }
    return outcome;
  });
  for (const [name, value] of Object.entries(headersOf({ data, ...(location ? { location } : {}) })))
    ctx.setHeader(name, value);
  return { status, data };
}

function headersOf({ data, location }: { readonly data: object; readonly location?: string }): Record<string, string> {
  const etag = etagOf(data);
  return { ...(location ? { location: `${basePath}${location}` } : {}), ...(etag ? { etag } : {}) };
}

/** @throws invalid_header */
function toKey({ method }: WriteOperation, { caller }: OperationContext, key: string, path: string): IdempotencyKey {
  if (!/^[\x20-\x7e]{1,255}$/.test(key)) {
    throw new ControlError("invalid_header", {
      header: "Idempotency-Key",
      form: "1 to 255 printable ASCII characters",
    });
  }
  return { session_id: caller.session.id, method, path, key };
}
