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

const keptMs = 24 * 3_600_000;
/** A first request that has not ended after this time has died with its process: nothing of it was committed. */
const runningMs = 15 * 60_000;

/**
 * Begins a request with a key: undefined when it is the first, else the answer that the first one got.
 * @throws idempotency_in_flight, idempotency_key_reused
 */
export async function beginIdempotent(
  db: Db,
  key: IdempotencyKey,
  requestHash: string,
  now: Date,
): Promise<Replay | undefined> {
  const row = {
    ...key,
    request_hash: requestHash,
    status: null,
    data: null,
    headers: null,
    locked_until: new Date(now.getTime() + runningMs),
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
  if (Number(numInsertedOrUpdatedRows ?? 0) === 1) return undefined;
  const first = await select(db, key);
  if (first && first.request_hash !== requestHash) throw new ControlError("idempotency_key_reused");
  if (!first || first.status === null) throw new ControlError("idempotency_in_flight", {}, { "retry-after": "1" });
  return { status: first.status, data: first.data ?? {}, headers: first.headers ?? {} };
}

/** Keeps the answer. Run it in the transaction of the effect. */
export async function endIdempotent(db: Db, key: IdempotencyKey, { status, data, headers }: Replay): Promise<void> {
  await db
    .updateTable("idempotency_keys")
    .set({ status, data: JSON.stringify(data), headers: JSON.stringify(headers) })
    .where("session_id", "=", key.session_id)
    .where("method", "=", key.method)
    .where("path", "=", key.path)
    .where("key", "=", key.key)
    .execute();
}

/** Gives the key free again: the request failed, and nothing was written. */
export async function releaseIdempotent(db: Db, key: IdempotencyKey): Promise<void> {
  await db
    .deleteFrom("idempotency_keys")
    .where("session_id", "=", key.session_id)
    .where("method", "=", key.method)
    .where("path", "=", key.path)
    .where("key", "=", key.key)
    .where("status", "is", null)
    .execute();
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
