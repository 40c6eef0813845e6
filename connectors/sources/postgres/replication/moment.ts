/** A moment of the database that stays readable, and where it is in the log. */
import { ConnectorError } from "svc-connectors";
import { openSession, type Session } from "../api.ts";
import type { PostgresContext } from "../spec.ts";
import { parseLsn } from "./lsn.ts";
import { flushLog } from "./server.ts";

export interface Moment {
  /** All that can be seen at the moment was committed before this place. */
  readonly lsn: bigint;
  /** The name of its snapshot. Undefined: none is held, since nothing is to be read from it. */
  readonly snapshot: string | undefined;
  /**
   * Whether a transaction can be seen. The log tells of one a little before that: with a standby
   * that the server waits for, as long before as that takes.
   */
  canSee(xid: number): boolean;
  /** Ends it, and gives the present. */
  renew(): Promise<Moment>;
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
  const end = () => void stream.end();
  const begin = () => client.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
  const renew = async (): Promise<Moment> => {
    await client.query("ROLLBACK");
    await begin();
    return take();
  };
  const take = async (): Promise<Moment> => {
    const { rows } = await client.query<{ name: string; written: string; visible: string }>(
      `SELECT pg_catalog.pg_export_snapshot() AS name, pg_catalog.pg_current_wal_insert_lsn()::text AS written,
         pg_catalog.txid_current_snapshot()::text AS visible`,
    );
    const [{ name = "", written = "", visible = "" } = {}] = rows;
    return { lsn: parseLsn(written), snapshot: name, canSee: parseVisible(visible), renew, end };
  };
  await begin();
  let moment = await take();
  for (let triesLeft = seenTries; seen !== undefined && triesLeft > 0; triesLeft--) {
    if (moment.canSee(seen)) break;
    await ctx.clock.sleep(seenWaitMs);
    moment = await renew();
  }
  return moment;
}

/** The moment that a run reads from. */
export interface CurrentMoment {
  get(): Moment;
  /** When it was taken, by the run's clock. */
  readonly takenAt: number;
  /** Takes the present instead. @param session outside of a transaction */
  renew(session: Session): Promise<void>;
}

export function createCurrentMoment(ctx: PostgresContext, first: Moment): CurrentMoment {
  let moment = first;
  let takenAt = ctx.clock.now();
  return {
    get: () => moment,
    get takenAt() {
      return takenAt;
    },
    async renew(session) {
      moment = await moment.renew();
      takenAt = ctx.clock.now();
      await flushLog(session);
    },
  };
}

const two32 = 2n ** 32n;

/**
 * Which transactions a snapshot sees, by what the server writes: the first that was under way, the
 * first that had not begun, and those between them that were under way. A transaction's number in
 * the log is the lower half of the whole one.
 * @see https://www.postgresql.org/docs/current/functions-info.html#FUNCTIONS-PG-SNAPSHOT-PARTS
 * (read 2026-11)
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
