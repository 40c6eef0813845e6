/** A run of the log: what its streams go on from, the moment that it reads, and the slot. */
import { randomBytes } from "node:crypto";
import {
  ConnectorError,
  type ReadRun,
  type SelectedStream,
  type Static,
  type Stream,
  type StreamBeginning,
} from "svc-connectors";
import { type alongKeyState, labelOf } from "svc-connectors/database";
import type { Session } from "../api.ts";
import type { ChangesState, State, TableState } from "../reading.ts";
import type { PostgresContext } from "../spec.ts";
import { judgeTable, seeTables } from "./identity.ts";
import { type ChangeLog, createChangeLog } from "./log.ts";
import { parseLsn } from "./lsn.ts";
import { type CurrentMoment, createCurrentMoment, holdMoment, type Moment } from "./moment.ts";
import {
  flushLog,
  haveLargeValues,
  inspectServer,
  isOfLog,
  type ServerState,
  type Slot,
  tableKey,
} from "./server.ts";
import {
  followSlot,
  identify,
  openReplication,
  type ReplicationSession,
  replicationFailure,
} from "./session.ts";
import type { Replication } from "./settings.ts";
import { logAwaitedSessions, watchStandbys } from "./standby.ts";
import { type BegunPieces, untilChange } from "./wait.ts";

type Selection = ReadRun<Stream, State>;

/** Shared by all streams of a run. */
export interface ChangeRun {
  readonly system: string;
  /** Where the changes of tables begin that are read for the first time. */
  readonly base: bigint;
  /**
   * A stream ends at the moment of its time, and its rows are read as they were then. Mostly there
   * is one for all: together they are as the database was, and no transaction is there in part. A
   * first copy that takes long has several.
   */
  readonly current: CurrentMoment;
  readonly log: ChangeLog;
  /** Streams whose changes are still to come. */
  readonly left: Set<string>;
  /** Says what a stream of the run goes on from. */
  beginningOf(stream: Stream): Beginning;
}

export interface Beginning {
  readonly stream: SelectedStream;
  /** The changes since are read. Undefined: the stream is new, or has to begin anew. */
  readonly state: ChangesState | undefined;
  /** For the states of this run. */
  readonly table: TableState;
  /** The rows are read, beside the changes; `rows` says behind which. */
  readonly isCopied: boolean;
  readonly rows?: Static<typeof alongKeyState> | undefined;
  /** Why the changes since the saved state, or what was read before, are of no use. */
  readonly loss?: string | undefined;
  /** Why the changes of the table cannot be read. */
  readonly failure?: ConnectorError | undefined;
}

const runs = new WeakMap<PostgresContext, Promise<ChangeRun>>();

export function runOf(
  ctx: PostgresContext,
  session: Session,
  selection: Selection,
): Promise<ChangeRun> {
  const open = runs.get(ctx);
  if (open) return open;
  const opening = openRun(ctx, session, selection);
  runs.set(ctx, opening);
  opening.catch(() => runs.delete(ctx));
  return opening;
}

async function openRun(
  ctx: PostgresContext,
  session: Session,
  selection: Selection,
): Promise<ChangeRun> {
  const settings = ctx.config.replication;
  if (!settings)
    throw new ConnectorError("CONFIG_INVALID", {
      path: "replication",
      problem: "is missing, and streams are to be read from the log",
    });
  const server = await inspectServer(session, settings);
  const replicating = await openReplication(ctx);
  try {
    const { system } = await identify(replicating);
    const saved = await beginningsOf(ctx, session, settings, {
      system,
      server,
      streams: selection.streams.filter(({ stream }) => isOfLog(stream)),
    });
    const { slot, loss } = await usableSlot(ctx, replicating, settings, server, {
      beginnings: saved,
      isPart: selection.isPart,
    });
    const beginnings =
      loss === undefined ? saved : saved.map((one) => (one.state ? lostTo(one, loss) : one));
    const needsRows = beginnings.some(({ isCopied }) => isCopied);
    const create = (command: string) =>
      logAwaitedSessions(ctx, session, replicating.command(`CREATE_REPLICATION_SLOT ${command}`));
    if (needsRows && slot === undefined)
      await create(`"${settings.slot}" LOGICAL pgoutput NOEXPORT_SNAPSHOT`);
    const exported = needsRows
      ? await exportSnapshot(ctx, replicating, settings, create)
      : undefined;
    const known = beginnings.flatMap(({ stream, state, table: { oid } }) =>
      state ? [{ table: tableOf(stream), oid, from: parseLsn(state.lsn) }] : [],
    );
    const from = known.map((part) => part.from).reduce(least, server.written);
    // Streams that are not read this time may need what lies before.
    const confirmed = selection.isPart ? (slot?.confirmed ?? 0n) : from;
    const { waitMs = 0 } = selection;
    const following = exported
      ? undefined
      : followSlot(replicating, { ...settings, from, confirmed });
    const mayWait = waitMs > 0 && known.length === beginnings.length;
    const begun: BegunPieces | undefined =
      following && (mayWait ? await untilChange(ctx, following, waitMs) : { pieces: following });
    const moment = exported ?? (await holdNeeded(ctx, session, beginnings, begun?.xid));
    const { lsn: base } = moment;
    const copied = beginnings
      .filter(({ state, isCopied }) => isCopied && !state)
      .map(({ stream, table: { oid } }) => ({ table: tableOf(stream), oid, from: base }));
    const byTable = new Map(beginnings.map((one) => [tableOf(one.stream), one]));
    return {
      system,
      base,
      current: createCurrentMoment(ctx, moment),
      log: createChangeLog(ctx, {
        settings,
        standbys: watchStandbys(ctx, session, settings.slot),
        confirmed,
        parts: [...known, ...copied],
        begun: begun?.pieces,
      }),
      left: new Set(byTable.keys()),
      beginningOf(stream) {
        const found = byTable.get(tableOf(stream));
        if (found) return found;
        throw new ConnectorError("STREAM_UNKNOWN", { stream: labelOfStream(stream) });
      },
    };
  } catch (error) {
    replicating.end();
    throw replicationFailure(error);
  }
}

/** The present, which is not kept where nothing is to be read from it. */
async function holdNeeded(
  ctx: PostgresContext,
  session: Session,
  beginnings: readonly Beginning[],
  seen: number | undefined,
): Promise<Moment> {
  const moment = await holdMoment(ctx, seen);
  const isNeeded =
    beginnings.some(({ state, table }) => state && table.changedAt !== undefined) ||
    (await haveLargeValues(
      session,
      beginnings.map(({ stream }) => stream),
    ));
  await flushLog(session);
  if (isNeeded) return moment;
  moment.end();
  return { ...moment, snapshot: undefined };
}

export const tableOf = ({ namespace = "public", name }: Stream) => tableKey(namespace, name);

const labelOfStream = ({ namespace = "public", name }: Stream) =>
  labelOf({ schema: namespace, name });

const least = (one: bigint, other: bigint) => (one < other ? one : other);

const lostTo = (one: Beginning, loss: string): Beginning => ({
  ...one,
  state: undefined,
  isCopied: false,
  loss,
});

interface Seen {
  readonly system: string;
  readonly server: ServerState;
  readonly streams: readonly StreamBeginning<Stream, State>[];
}

/** Says what each stream goes on from, by its state and by what its table is now. */
async function beginningsOf(
  ctx: PostgresContext,
  session: Session,
  settings: Replication,
  { system, server, streams }: Seen,
): Promise<Beginning[]> {
  if (streams.length === 0) return [];
  const { written, tables } = await seeTables(
    session,
    settings,
    server.version,
    streams.map(({ stream }) => stream),
  );
  const beginnings: Beginning[] = [];
  for (const one of streams) {
    const label = labelOfStream(one.stream);
    const seen = tables.get(tableOf(one.stream));
    if (!seen || seen.problem !== undefined) {
      const failure = seen
        ? new ConnectorError("DATABASE_UNUSABLE", { reason: seen.problem ?? "" })
        : new ConnectorError("STREAM_UNKNOWN", { stream: label });
      const table = { oid: 0, published: "", columns: [] };
      beginnings.push({ stream: one.stream, state: undefined, table, isCopied: false, failure });
      continue;
    }
    const { table, loss, copy, warning } = await judgeTable(session, one, seen, written);
    if (warning !== undefined) ctx.log.warn(warning, { stream: label });
    const { stream, state } = one;
    const changes = state?.mode === "changes" ? state : undefined;
    const beginning = {
      stream,
      state: changes,
      table,
      isCopied: state === undefined || changes?.rows !== undefined || copy !== undefined,
      rows: copy === undefined ? changes?.rows : undefined,
    };
    const lost = (state && lossSince(state, system, server)) ?? loss;
    beginnings.push(lost === undefined ? beginning : lostTo(beginning, lost));
    if (lost === undefined && copy !== undefined)
      ctx.log.info("All rows are copied once more, beside their changes.", {
        stream: label,
        reason: copy,
      });
  }
  return beginnings;
}

/** The slot, unless there is none, or one that is of no use any more: then it is dropped. */
async function usableSlot(
  ctx: PostgresContext,
  replicating: ReplicationSession,
  settings: Replication,
  { slot, written }: ServerState,
  run: { readonly beginnings: readonly Beginning[]; readonly isPart: boolean },
): Promise<{ readonly slot: Slot | undefined; readonly loss?: string }> {
  if (!slot) return { slot };
  const { slot: name, max_lag_mb: maxLag = Number.POSITIVE_INFINITY } = settings;
  const since = (place: bigint) => Number(written > place ? written - place : 0n);
  const lagBytes = since(slot.kept);
  ctx.log.info("The server keeps its log for the replication slot.", { slot: name, lagBytes });
  if (slot.isAtRisk)
    ctx.log.warn(
      "The server keeps more of its log for the replication slot than it plans for. Where max_slot_wal_keep_size limits it, the slot is lost once safeBytes more are written.",
      { slot: name, lagBytes, safeBytes: slot.safeBytes ?? null },
    );
  const drop = () => replicating.command(`DROP_REPLICATION_SLOT "${name}"`);
  if (slot.isLost) {
    await drop();
    return { slot: undefined };
  }
  const states = run.beginnings.flatMap(({ state }) => (state ? [parseLsn(state.lsn)] : []));
  const unread = since(run.isPart ? slot.confirmed : states.reduce(least, written));
  const maxBytes = maxLag * 1024 * 1024;
  const fields = { slot: name, unreadBytes: unread, lagBytes };
  if (unread > maxBytes) {
    if (!run.beginnings.some(({ isCopied, state }) => isCopied && state)) {
      await drop();
      return { slot: undefined, loss: "the slot held back more than max_lag_mb" };
    }
    ctx.log.warn(
      "The slot holds back more than max_lag_mb. It stays, since rows are still copied: without it they would be copied from the beginning.",
      fields,
    );
  } else if (lagBytes > maxBytes)
    ctx.log.warn(
      "The server keeps more of its log than max_lag_mb, although what is not read yet is less: it lets go of it when the transactions that were open then have ended, and a run behind.",
      fields,
    );
  return { slot };
}

function lossSince(
  state: State,
  system: string,
  { slot, written }: ServerState,
): string | undefined {
  if (state.mode !== "changes") return "it was read by queries so far";
  if (state.system !== system) return "the server is another one, or has gone back to a backup";
  if (parseLsn(state.lsn) > written)
    return "the server has gone back: its log ends before the place that was read last";
  if (!slot) return "the replication slot is gone";
  if (slot.isLost) return "the server has removed what the replication slot needs of its log";
  if (parseLsn(state.lsn) < slot.confirmed)
    return "the replication slot was read on by someone else";
  return undefined;
}

/**
 * A snapshot, and the place in the log where it stands: what is committed before is in it, nothing
 * else is. It comes with a slot of its own, which ends with the session. The server waits for all
 * transactions that are under way.
 */
async function exportSnapshot(
  ctx: PostgresContext,
  replicating: ReplicationSession,
  { slot }: Replication,
  create: (command: string) => ReturnType<ReplicationSession["command"]>,
): Promise<Moment> {
  const own = `${slot}_rows_${randomBytes(3).toString("hex")}`;
  const [row] = await create(`"${own}" TEMPORARY LOGICAL pgoutput EXPORT_SNAPSHOT`);
  const [, lsn, name] = row ?? [];
  if (!lsn || !name)
    throw new ConnectorError("DATABASE_UNUSABLE", { reason: "it has exported no snapshot" });
  const end = () => replicating.end();
  const renew = () => {
    end();
    return holdMoment(ctx);
  };
  return { lsn: parseLsn(lsn), snapshot: name, canSee: () => true, renew, end };
}
