import { ControlError } from "../contract/reasons.ts";
import type { Db } from "../store/database.ts";

/** Which request a key belongs to. */
export interface IdempotencyKey {
  readonly session_id: string;
  readonly method: string;
  readonly path: string;
  readonly key: string;
}

export interface Replay {
  readonly status: number;
  readonly data: Record<string, unknown>;
  readonly headers: Record<string, string>;
}

/**
 * The right to do what the key is for. Whoever takes the place of a request that seems dead gets
 * another one.
 */
export type IdempotencyClaim = Date;

const keptMs = 24 * 3_600_000;
/**
 * A first request that has not ended after this time has died with its process: nothing of it was
 * committed. Longer than any answer may take; should one take longer all the same, its claim is
 * gone and its transaction fails.
 */
const runningMs = 150_000;

/**
 * Begins a request with a key: a claim when it is the first, else the answer that the first one
 * got.
 * @throws idempotency_in_flight, idempotency_key_reused
 */
export async function beginIdempotent(
  db: Db,
  key: IdempotencyKey,
  requestHash: string,
  now: Date,
): Promise<{ readonly claim: IdempotencyClaim } | { readonly replay: Replay }> {
  const claim = new Date(now.getTime() + runningMs);
  const row = {
    ...key,
    request_hash: requestHash,
    status: null,
    data: null,
    headers: null,
    locked_until: claim,
    expires_at: new Date(now.getTime() + keptMs),
  };
  // Takes the place of one that has expired, or that has died half-way.
  const { numInsertedOrUpdatedRows } = await db
    .insertInto("idempotency_keys")
    .values(row)
    .onConflict((conflict) =>
      conflict
        .columns(["session_id", "method", "path", "key"])
        .doUpdateSet(row)
        .where((eb) =>
          eb.or([
            eb("idempotency_keys.expires_at", "<=", now),
            eb.and([
              eb("idempotency_keys.status", "is", null),
              eb("idempotency_keys.locked_until", "<=", now),
              eb("idempotency_keys.request_hash", "=", requestHash),
            ]),
          ]),
        ),
    )
    .executeTakeFirstOrThrow();
  if (Number(numInsertedOrUpdatedRows ?? 0) === 1) return { claim };
  const first = await select(db, key);
  if (first && first.request_hash !== requestHash) throw new ControlError("idempotency_key_reused");
  if (!first || first.status === null) throw inFlight();
  return { replay: { status: first.status, data: first.data ?? {}, headers: first.headers ?? {} } };
}

const inFlight = () => new ControlError("idempotency_in_flight", {}, { "retry-after": "1" });

/**
 * Keeps the answer. Run it in the transaction of the effect.
 * @param answer its data as JSON text
 * @throws idempotency_in_flight when another request has taken the place meanwhile
 */
export async function endIdempotent(
  db: Db,
  key: IdempotencyKey,
  claim: IdempotencyClaim,
  {
    status,
    data,
    headers,
  }: { readonly status: number; readonly data: string; readonly headers: object },
): Promise<void> {
  const { numUpdatedRows } = await db
    .updateTable("idempotency_keys")
    .set({ status, data, headers: JSON.stringify(headers) })
    .where("session_id", "=", key.session_id)
    .where("method", "=", key.method)
    .where("path", "=", key.path)
    .where("key", "=", key.key)
    .where("locked_until", "=", claim)
    .executeTakeFirstOrThrow();
  if (numUpdatedRows !== 1n) throw inFlight();
}

/** Gives the key free again: the request failed, and nothing was written. */
export async function releaseIdempotent(
  db: Db,
  key: IdempotencyKey,
  claim: IdempotencyClaim,
): Promise<void> {
  await db
    .deleteFrom("idempotency_keys")
    .where("session_id", "=", key.session_id)
    .where("method", "=", key.method)
    .where("path", "=", key.path)
    .where("key", "=", key.key)
    .where("locked_until", "=", claim)
    .where("status", "is", null)
    .execute();
}

/** Gives free what a process that had the database for itself has left behind when it died. */
export async function releaseAll(db: Db): Promise<void> {
  await db.deleteFrom("idempotency_keys").where("status", "is", null).execute();
}

/** Drops what has expired. */
export async function sweepIdempotent(db: Db, now: Date): Promise<void> {
  await db.deleteFrom("idempotency_keys").where("expires_at", "<=", now).execute();
}

const select = (db: Db, { session_id, method, path, key }: IdempotencyKey) =>
  db
    .selectFrom("idempotency_keys")
    .select(["request_hash", "status", "data", "headers"])
    .where("session_id", "=", session_id)
    .where("method", "=", method)
    .where("path", "=", path)
    .where("key", "=", key)
    .executeTakeFirst();
