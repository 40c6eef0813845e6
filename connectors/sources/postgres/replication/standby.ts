/** Waits of the server: for standby servers that go first, for transactions that are still open. */
import { escapeLiteral } from "pg";
import { ConnectorError } from "svc-connectors";
import type { Session } from "../api.ts";
import type { PostgresContext } from "../spec.ts";
import { parseVisible } from "./moment.ts";

/** Watches a slot that is read. */
export interface StandbyWatch {
  /** The slot has gone on. */
  hasProgress(): void;
  /**
   * The answer of the slot.
   * @throws PROVIDER_TIMEOUT when standby servers hold it back for too long
   */
  until<T>(asked: Promise<T>): Promise<T>;
  /** Nobody waits for the slot for now. */
  rest(): void;
}

/** After so long without progress the server is asked for the reason, again and again. */
const lookMs = 20_000;
/** A standby server that is restarted is back by then. */
const maxHeldMs = 300_000;

/**
 * PostgreSQL 17 and later: of a slot that is to survive a failover nothing is told that the standby
 * servers of a setting do not have yet. One that is away holds the log back without end.
 * @see https://www.postgresql.org/docs/current/runtime-config-replication.html#GUC-SYNCHRONIZED-STANDBY-SLOTS
 * (read 2026-11)
 * @param session not in use while the slot is waited for
 */
export function watchStandbys(
  { clock, log }: PostgresContext,
  session: Session,
  slot: string,
): StandbyWatch {
  let lookedAt = clock.now();
  let heldSince: number | undefined;

  let sleeping: AbortController | undefined;
  let wake = () => {};

  /** One sleep for many pieces: they come by the thousands. */
  const sleep = () => {
    if (sleeping) return;
    const own = new AbortController();
    sleeping = own;
    clock.sleep(lookedAt + lookMs - clock.now(), own.signal).then(
      () => {
        if (sleeping === own) sleeping = undefined;
        wake();
      },
      () => undefined,
    );
  };

  const look = async () => {
    lookedAt = clock.now();
    const standbys = await standbysBefore(session, slot);
    if (standbys === undefined) heldSince = undefined;
    else if (heldSince === undefined) {
      heldSince = lookedAt - lookMs;
      log.warn(
        "The server holds the changes back until standby servers have them. Bring those of synchronized_standby_slots back, or take them out of that setting.",
        { slot, standbys },
      );
    } else if (lookedAt - heldSince >= maxHeldMs)
      throw new ConnectorError("PROVIDER_TIMEOUT", {
        phase: `the standby servers of synchronized_standby_slots, ${standbys}, hold the replication slot back`,
      });
  };

  return {
    hasProgress() {
      lookedAt = clock.now();
      heldSince = undefined;
    },
    async until(asked) {
      if (clock.standsStill) return await asked;
      for (;;) {
        sleep();
        const isAwake = await new Promise<boolean>((resolve, reject) => {
          wake = () => resolve(true);
          asked.then(() => resolve(false), reject);
        });
        if (!isAwake) return await asked;
        if (clock.now() - lookedAt >= lookMs) await look();
      }
    },
    rest() {
      sleeping?.abort();
      sleeping = undefined;
    },
  };
}

/**
 * Warns where a run has ended before a transaction whose commit still waits for a standby server.
 */
export async function warnOfWaitingCommit(
  { log }: PostgresContext,
  { client }: Session,
  { slot, xid }: { readonly slot: string; readonly xid: number },
): Promise<void> {
  const { rows } = await client.query<{ visible: string; standbys: string }>(
    `SELECT pg_catalog.txid_current_snapshot()::text AS visible, pg_catalog.current_setting('synchronous_standby_names') AS standbys`,
  );
  const [{ visible = "", standbys = "" } = {}] = rows;
  if (standbys === "" || parseVisible(visible)(xid)) return;
  log.warn(
    "A commit waits for a standby server: its changes, and those behind it, are read once it is done. Bring the servers of synchronous_standby_names back, or take them out of that setting.",
    { slot, standbys },
  );
}

/**
 * A slot is made once all transactions that were open have ended. Says after a while which one that
 * is.
 * @param session not in use while the slot is made
 */
export async function logAwaitedSessions<T>(
  { clock, log }: PostgresContext,
  { client }: Session,
  making: Promise<T>,
): Promise<T> {
  if (clock.standsStill) return await making;
  const begun = clock.now();
  const made = new AbortController();
  const isOver = making.then(
    () => true,
    () => true,
  );
  const waited = () =>
    clock.sleep(lookMs, made.signal).then(
      () => false,
      () => true,
    );
  while (!(await Promise.race([isOver, waited()]))) {
    const { rows } = await client.query<{ pid: number; seconds: number | null }>(`
      SELECT held.pid, EXTRACT(epoch FROM pg_catalog.now() - a.xact_start)::int AS seconds
      FROM pg_catalog.pg_locks waits
      JOIN pg_catalog.pg_stat_activity own ON own.pid = waits.pid AND own.backend_type = 'walsender'
      JOIN pg_catalog.pg_locks held ON held.locktype = 'transactionid' AND held.transactionid = waits.transactionid AND held.granted
      LEFT JOIN pg_catalog.pg_stat_activity a ON a.pid = held.pid
      WHERE waits.locktype = 'transactionid' AND NOT waits.granted AND own.usename = CURRENT_USER`);
    const [found] = rows;
    if (found)
      log.warn(
        "The server makes the replication slot once a transaction that is open has ended. A pid that is missing is that of a prepared transaction (pg_prepared_xacts).",
        {
          pid: found.pid,
          // Only who may read all statistics is told.
          openSeconds: found.seconds,
          waitedSeconds: Math.round((clock.now() - begun) / 1_000),
        },
      );
  }
  made.abort();
  return await making;
}

/** The standby servers that a slot waits for, as the setting has them; undefined: it does not. */
async function standbysBefore({ client }: Session, slot: string): Promise<string | undefined> {
  const { rows } = await client.query<{ standbys: string | null }>(`
    SELECT pg_catalog.current_setting('synchronized_standby_slots', true) AS standbys
    FROM pg_catalog.pg_replication_slots s JOIN pg_catalog.pg_stat_activity a ON a.pid = s.active_pid
    WHERE s.slot_name = ${escapeLiteral(slot)} AND a.wait_event = 'WaitForStandbyConfirmation'`);
  return rows[0]?.standbys ?? undefined;
}
