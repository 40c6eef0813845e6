/** A moment of the database that stays readable, and where it is in the log. */
import { ConnectorError } from "svc-connectors";
import { openSession } from "../api.ts";
import type { PostgresContext } from "../spec.ts";
import { parseLsn } from "./lsn.ts";

export interface Moment {
  /** All that can be seen at the moment was committed before this place. */
  readonly lsn: bigint;
  /** The name of its snapshot. */
  readonly snapshot: string;
  /**
   * Whether a transaction can be seen. The log tells of one a little before that: with a standby
   * that the server waits for, as long before as that takes.
   */
  canSee(xid: number): boolean;
  /** Nobody reads it any more. */
  end(): void;
}

/** How long a transaction that the log has told is waited for, until it can be seen. */
const seenTries = 200;
const seenWaitMs = 10;

/**
 * Holds the present, in a session of its own that ends with the run.
 * @param seen a transaction that is to be seen; it is not where its commit takes too long
 */
export async function holdMoment(ctx: PostgresContext, seen?: number): Promise<Moment> {
  const { client, stream } = await openSession(ctx);
  for (let triesLeft = seenTries; ; triesLeft--) {
    await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    const { rows } = await client.query<{ name: string; written: string; visible: string }>(
      `SELECT pg_catalog.pg_export_snapshot() AS name, pg_catalog.pg_current_wal_insert_lsn()::text AS written,
         pg_catalog.txid_current_snapshot()::text AS visible`,
    );
    const [{ name = "", written = "", visible = "" } = {}] = rows;
    const canSee = parseVisible(visible);
    if (seen === undefined || triesLeft === 0 || canSee(seen))
      return { lsn: parseLsn(written), snapshot: name, canSee, end: () => void stream.end() };
    await client.query("ROLLBACK");
    await ctx.clock.sleep(seenWaitMs);
  }
}

const two32 = 2n ** 32n;

/**
 * Which transactions a snapshot sees, by what the server writes: the first that was under way, the
 * first that had not begun, and those between them that were under way. A transaction's number in
 * the log is the lower half of the whole one.
 * @see https://www.postgresql.org/docs/current/functions-info.html#FUNCTIONS-PG-SNAPSHOT-PARTS (read 2026-11)
 */
export function parseVisible(text: string): (xid: number) => boolean {
  const [, first, next, list] = /^(\d+):(\d+):([\d,]*)$/.exec(text) ?? [];
  if (first === undefined || next === undefined)
    throw new ConnectorError("DATABASE_UNUSABLE", { reason: "it has told no snapshot" });
  const [oldest, end] = [BigInt(first), BigInt(next)];
  const underWay = new Set(list?.split(",").filter(Boolean).map(BigInt));
  return (xid) => {
    let whole = end - (end % two32) + BigInt(xid);
    if (whole > end + two32 / 2n) whole -= two32;
    else if (whole < end - two32 / 2n) whole += two32;
    return whole < oldest || (whole < end && !underWay.has(whole));
  };
}
