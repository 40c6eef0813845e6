import type { OperationContext, WriteOperation } from "../contract/operation.ts";
import { ControlError } from "../contract/reasons.ts";
import type { Services } from "../services/services.ts";
import type { Db } from "../store/database.ts";
import { dataText } from "./answer.ts";
import type { CompiledOperation } from "./compile.ts";
import {
  beginIdempotent,
  endIdempotent,
  type IdempotencyKey,
  releaseIdempotent,
  sweepIdempotent,
} from "./idempotency.ts";

/** The status and data of an operation's answer, and the headers that belong to them. */
export interface Result {
  readonly status: number;
  readonly data: object;
  /** The data as it is sent. */
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Saves a result. It runs in the transaction of the effect: both happen, or neither does. */
export type Persist = (db: Db, result: Result) => Promise<void>;

/** The parts by which a request with an Idempotency-Key is told from others. */
export interface Repeatable {
  readonly key: string;
  readonly path: string;
  readonly proposes: boolean;
}

/**
 * Does `work` once for an Idempotency-Key: a request that comes again gets what the first one got,
 * whatever has become of the resource since. When it fails nothing was written, and the key may be
 * tried again.
 * @throws invalid_header, idempotency_in_flight, idempotency_key_reused
 */
export async function once(
  compiled: CompiledOperation,
  ctx: OperationContext,
  input: object,
  request: Repeatable,
  work: (persist: Persist) => Promise<Result>,
): Promise<Result> {
  const operation = compiled.operation as WriteOperation;
  const key = toKey(operation, ctx, request);
  await sweepNowAndThen(ctx.services, ctx.now);
  const begun = await beginIdempotent(
    ctx.db,
    key,
    meaningOf(operation, ctx, input, request),
    ctx.now,
  );
  if ("replay" in begun) {
    const { status, data, headers } = begun.replay;
    const text = dataText(compiled, ctx, status, data);
    return { status, data, text, headers: { ...headers, "idempotent-replayed": "true" } };
  }
  let isPersisted = false;
  const persist: Persist = async (db, { status, text, headers }) => {
    isPersisted = true;
    await endIdempotent(db, key, begun.claim, { status, data: text, headers });
  };
  try {
    const result = await work(persist);
    if (!isPersisted) await persist(ctx.db, result);
    return result;
  } catch (error) {
    await releaseIdempotent(ctx.db, key, begun.claim).catch(() => undefined);
    throw error;
  }
}

/** @throws invalid_header */
function toKey(
  { method }: WriteOperation,
  { caller }: OperationContext,
  { key, path }: Repeatable,
): IdempotencyKey {
  if (!/^[\x20-\x7e]{1,255}$/.test(key)) {
    throw new ControlError("invalid_header", {
      header: "Idempotency-Key",
      form: "1 to 255 printable ASCII characters",
    });
  }
  return { session_id: caller.session.id, method, path, key };
}

/**
 * The body may hold secrets, and short ones: a mark, never a hash that words could be tried
 * against.
 */
function meaningOf(
  operation: WriteOperation,
  ctx: OperationContext,
  input: object,
  { proposes }: Repeatable,
): string {
  const workspaceId = operation.workspace === "none" ? null : ctx.workspaceId;
  return ctx.services.mac.of(
    "request",
    JSON.stringify([operation.id, workspaceId, proposes, input]),
  );
}

const sweepEveryMs = 3_600_000;
const sweptAtMs = new WeakMap<Services, number>();

/** Keys that have expired are dropped by those who come later. */
async function sweepNowAndThen(services: Services, now: Date): Promise<void> {
  if (now.getTime() - (sweptAtMs.get(services) ?? 0) < sweepEveryMs) return;
  sweptAtMs.set(services, now.getTime());
  await sweepIdempotent(services.database.db, now);
}
