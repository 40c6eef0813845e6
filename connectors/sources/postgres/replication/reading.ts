/** Reading from the log: first the rows of a snapshot, then what has changed since. */
import { randomBytes } from "node:crypto";
import { escapeLiteral } from "pg";
import {
  batch,
  ConnectorError,
  checkpoint,
  type Output,
  type ReadRun,
  type SelectedStream,
  type Stream,
  type StreamBeginning,
  streamFields,
} from "svc-connectors";
import { labelOf } from "svc-connectors/database";
import { inSnapshot, type Session } from "../api.ts";
import { copyRows } from "../copy.ts";
import { planProjection } from "../projection.ts";
import { type ChangesState, type State, seeOperators } from "../reading.ts";
import type { PostgresContext } from "../spec.ts";
import { describeTable, fromOf, ofTable } from "../streams.ts";
import { copyTable } from "./copying.ts";
import { type ChangeLog, createChangeLog, type LogItem } from "./log.ts";
import { formatLsn, parseLsn } from "./lsn.ts";
import { type CurrentMoment, createCurrentMoment, holdMoment, type Moment } from "./moment.ts";
import type { Tuple } from "./pgoutput.ts";
import { type ChangeRows, createChangeRows } from "./rows.ts";
import {
  flushLog,
  haveLargeValues,
  inspectServer,
  isOfLog,
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
import { addedColumns, type Replication } from "./settings.ts";
import { warnOfWaitingCommit, watchStandbys } from "./standby.ts";
import { type BegunPieces, untilChange } from "./wait.ts";

type Beginning = StreamBeginning<Stream, State>;
type Selection = ReadRun<Stream, State>;

/** State that all streams of a run share. */
interface ChangeRun {
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
  /** Why the changes since a saved state are gone; undefined: they are there. */
  lossOf(state: State): string | undefined;
}

/** Bytes of changes that are put out at once, and rows of which a large value is read. */
const flushBytes = 1024 * 1024;
const maxUnresolved = 1_000;
/** Bytes between two checkpoints. */
const pageBytes = 8 * 1024 * 1024;

/** @throws CHANGES_LOST when the rows have to be read anew, after a state that says so */
export async function* readChanges(
  ctx: PostgresContext,
  session: Session,
  stream: SelectedStream,
  saved: State | undefined,
  selection: Selection,
): AsyncGenerator<Output<State>> {
  const run = await runOf(ctx, session, selection);
  const loss = saved && run.lossOf(saved);
  if (loss !== undefined) yield* beginAnew(ctx, stream, loss);
  const state = saved?.mode === "changes" ? saved : undefined;
  const { system, current, log } = run;
  const base = state?.lsn ?? formatLsn(run.base);
  const stateAt = (lsn: string): ChangesState => ({ mode: "changes", system, lsn });
  if (state === undefined || state.rows) {
    yield* copyTable(ctx, session, stream, state ?? stateAt(base), current);
    yield checkpoint(stateAt(base));
  }
  const table = tableOf(stream);
  const moment = current.get();
  const changes = log.changesOf(table, parseLsn(base), moment);
  yield* toOutput(ctx, session, moment, stream, changes, stateAt);
  run.left.delete(table);
  if (run.left.size === 0) await endRun(ctx, session, run);
  yield checkpoint(stateAt(formatLsn(log.border)));
}

async function endRun(
  ctx: PostgresContext,
  session: Session,
  { current, log: { unseen: xid } }: ChangeRun,
): Promise<void> {
  current.get().end();
  const { slot } = ctx.config.replication ?? {};
  if (xid !== undefined && slot !== undefined)
    await warnOfWaitingCommit(ctx, session, { slot, xid });
}

/** The state of nothing: the next run reads all rows, beside those that are there. */
async function* beginAnew(
  ctx: PostgresContext,
  { namespace = "public", name }: SelectedStream,
  reason: string,
): AsyncGenerator<Output<State>> {
  const stream = labelOf({ schema: namespace, name });
  ctx.log.warn("The rows are read anew by the next run.", { stream, reason });
  yield checkpoint({} as State);
  throw new ConnectorError("CHANGES_LOST", { stream, reason });
}

async function* toOutput(
  ctx: PostgresContext,
  session: Session,
  moment: Moment,
  stream: SelectedStream,
  changes: AsyncIterable<Iterable<LogItem>>,
  stateAt: (lsn: string) => ChangesState,
): AsyncGenerator<Output<State>> {
  const { primaryKey: key = [] } = stream;
  const fields = streamFields(stream);
  let rows: ChangeRows | undefined;
  let described: object | undefined;
  /** Keys of rows that are read, since the log has not all of their values. */
  const unresolved = new Map<string, readonly string[]>();
  let lsn = 0n;
  let rowsSince = 0;
  let bytesSince = 0;

  const flush = async function* (): AsyncGenerator<Output<State>> {
    for (const one of rows?.take() ?? []) {
      rowsSince += one.rowCount;
      yield batch(one);
    }
    if (unresolved.size === 0) return;
    const keys = [...unresolved.values()];
    unresolved.clear();
    rowsSince += keys.length;
    yield* readByKey(ctx, session, moment, stream, keys, lsn);
  };

  for await (const items of changes)
    for (const item of items) {
      if (item.kind === "commit") {
        const isPage =
          rowsSince + (rows?.rowCount ?? 0) + unresolved.size >= ctx.config.page_size ||
          bytesSince >= pageBytes;
        if (!isPage) continue;
        yield* flush();
        yield checkpoint(stateAt(formatLsn(item.end)));
        rowsSince = 0;
        bytesSince = 0;
        continue;
      }
      const { change, relation } = item;
      lsn = item.lsn;
      if (change.kind === "truncate") yield* beginAnew(ctx, stream, "the table was truncated");
      if (described !== relation || !rows) {
        yield* flush();
        rows = await createChangeRows(session, relation, { fields, key });
        described = relation;
      }
      addChange(rows, unresolved, item);
      if (rows.bytes < flushBytes && unresolved.size < maxUnresolved) continue;
      bytesSince += rows.bytes;
      yield* flush();
    }
  yield* flush();
}

/** Adds the rows that a change makes; the key of one that the log has not as a whole is noted. */
function addChange(
  rows: ChangeRows,
  unresolved: Map<string, readonly string[]>,
  { change, relation, lsn, time }: Extract<LogItem, { kind: "change" }>,
): void {
  const resolve = (tuple: Tuple) => {
    if (unresolved.size > 0) unresolved.delete(JSON.stringify(rows.keyOf(tuple)));
  };
  const remove = (tuple: Tuple) => {
    resolve(tuple);
    rows.add({ tuple, lsn, deletedAt: time });
  };
  if (change.kind === "delete") remove(change.old);
  if (change.kind !== "insert" && change.kind !== "update") return;
  const { row } = change;
  const before = change.kind === "update" ? change.old : undefined;
  if (before && !rows.isSameKey(before, row)) remove(before);
  const isWhole = relation.identity === "f" ? before : undefined;
  if (rows.add({ tuple: row, before: isWhole, lsn })) resolve(row);
  else {
    const values = rows.keyOf(row);
    unresolved.set(JSON.stringify(values), values);
  }
}

/**
 * Rows as they were at the border, with all changes that the run reads. Those that are gone are
 * deleted, or have another key, later in the log.
 */
async function* readByKey(
  ctx: PostgresContext,
  session: Session,
  { snapshot }: Moment,
  stream: SelectedStream,
  keys: readonly (readonly string[])[],
  lsn: bigint,
): AsyncGenerator<Output<State>> {
  const work = async function* (): AsyncGenerator<Output<State>> {
    const described = await describeTable(ctx, session, stream);
    const table = { ...described, columns: [...described.columns, ...addedColumns(lsn)] };
    const key = (stream.primaryKey ?? []).flatMap(
      (name) => table.columns.find((column) => column.name === name) ?? [],
    );
    await seeOperators(session, key);
    const projection = planProjection(table, streamFields(stream), []);
    const rows = keys.map(
      (values) =>
        `(${key.map(({ typeName }, index) => `${escapeLiteral(values[index] ?? "")}::${typeName}`)})`,
    );
    const names = key.map(({ name }) => ofTable(name));
    const query = `SELECT ${projection.list} FROM ${fromOf(table)} WHERE (${names}) IN (VALUES ${rows})`;
    for await (const { batch: some } of copyRows(session, query, {
      ...projection,
      maxRows: ctx.config.page_size,
    }))
      yield batch(some);
  };
  yield* inSnapshot(session, work, { hasTimeout: false, snapshot });
}

const runs = new WeakMap<PostgresContext, Promise<ChangeRun>>();

function runOf(ctx: PostgresContext, session: Session, selection: Selection): Promise<ChangeRun> {
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
    const slot = await usableSlot(ctx, replicating, settings, server);
    const lossOf = (state: State) => lossSince(state, system, slot);
    const ofLog = selection.streams.filter(({ stream }) => isOfLog(stream));
    const isKnown = ({ state }: Beginning) => state !== undefined && lossOf(state) === undefined;
    const needsRows = ofLog.some(
      ({ state }) =>
        state === undefined ||
        (state.mode === "changes" && state.rows !== undefined && lossOf(state) === undefined),
    );
    if (needsRows && slot === undefined)
      await replicating.command(
        `CREATE_REPLICATION_SLOT "${settings.slot}" LOGICAL pgoutput NOEXPORT_SNAPSHOT`,
      );
    const exported = needsRows ? await exportSnapshot(ctx, replicating, settings) : undefined;
    const known = ofLog.filter(isKnown).flatMap(({ stream, state }) => {
      if (state?.mode !== "changes") return [];
      return [{ table: tableOf(stream), from: parseLsn(state.lsn) }];
    });
    const from = known.map((part) => part.from).reduce(least, server.written);
    // Streams that are not read this time may need what lies before.
    const confirmed = selection.isPart ? (slot?.confirmed ?? 0n) : from;
    const { waitMs = 0 } = selection;
    const following = exported
      ? undefined
      : followSlot(replicating, { ...settings, from, confirmed });
    const mayWait = waitMs > 0 && known.length === ofLog.length;
    const begun: BegunPieces | undefined =
      following && (mayWait ? await untilChange(ctx, following, waitMs) : { pieces: following });
    const moment = exported ?? (await holdNeeded(ctx, session, ofLog, begun?.xid));
    const { lsn: base } = moment;
    const copied = ofLog
      .filter(({ state }) => state === undefined)
      .map(({ stream }) => ({ table: tableOf(stream), from: base }));
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
      left: new Set(ofLog.map(({ stream }) => tableOf(stream))),
      lossOf,
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
  ofLog: readonly Beginning[],
  seen: number | undefined,
): Promise<Moment> {
  const moment = await holdMoment(ctx, seen);
  const streams = ofLog.map(({ stream }) => stream);
  const isNeeded = await haveLargeValues(session, streams);
  await flushLog(session);
  if (isNeeded) return moment;
  moment.end();
  return { ...moment, snapshot: undefined };
}

const tableOf = ({ namespace = "public", name }: Stream) => tableKey(namespace, name);

const least = (one: bigint, other: bigint) => (one < other ? one : other);

/** The slot, unless there is none, or one that is of no use any more: then it is dropped. */
async function usableSlot(
  ctx: PostgresContext,
  replicating: ReplicationSession,
  settings: Replication,
  { slot, written }: { readonly slot: Slot | undefined; readonly written: bigint },
): Promise<Slot | undefined> {
  if (!slot) return undefined;
  const lagBytes = Number(written > slot.confirmed ? written - slot.confirmed : 0n);
  const { slot: name, max_lag_mb: maxLag = Number.POSITIVE_INFINITY } = settings;
  ctx.log.info("The server keeps its log for the replication slot.", { slot: name, lagBytes });
  if (!slot.isLost && lagBytes <= maxLag * 1024 * 1024) return slot;
  await replicating.command(`DROP_REPLICATION_SLOT "${name}"`);
  return undefined;
}

function lossSince(state: State, system: string, slot: Slot | undefined): string | undefined {
  if (state.mode !== "changes") return "it was read by queries so far";
  if (state.system !== system) return "the server is another one, or has gone back to a backup";
  if (!slot) return "the replication slot is gone";
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
): Promise<Moment> {
  const own = `${slot}_rows_${randomBytes(3).toString("hex")}`;
  const [row] = await replicating.command(
    `CREATE_REPLICATION_SLOT "${own}" TEMPORARY LOGICAL pgoutput EXPORT_SNAPSHOT`,
  );
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
