/** Reading from the log: first the rows of a snapshot, then what has changed since. */
import { escapeLiteral } from "pg";
import {
  batch,
  ConnectorError,
  checkpoint,
  type Output,
  type ReadRun,
  type SelectedStream,
  type Stream,
  streamFields,
} from "svc-connectors";
import { labelOf } from "svc-connectors/database";
import { inSnapshot, type Session } from "../api.ts";
import { copyRows } from "../copy.ts";
import { planProjection } from "../projection.ts";
import { type ChangesState, type State, seeOperators, type TableState } from "../reading.ts";
import type { PostgresContext } from "../spec.ts";
import { describeTable, fromOf, ofTable } from "../streams.ts";
import { requireVisible } from "../visible.ts";
import { copyTable } from "./copying.ts";
import type { LogItem } from "./log.ts";
import { formatLsn, parseLsn } from "./lsn.ts";
import type { Moment } from "./moment.ts";
import type { Tuple } from "./pgoutput.ts";
import { type ChangeRows, createChangeRows, oversizedAdvice } from "./rows.ts";
import { type ChangeRun, runOf, tableOf } from "./run.ts";
import { maxMessageBytes } from "./session.ts";
import { addedColumns } from "./settings.ts";
import { warnOfWaitingCommit } from "./standby.ts";

type Selection = ReadRun<Stream, State>;

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
  const beginning = run.beginningOf(stream);
  const { state, table, rows, isCopied, loss, failure } = beginning;
  if (failure) {
    if (saved !== undefined) yield checkpoint({} as State);
    throw failure;
  }
  if (loss !== undefined) yield* beginAnew(ctx, stream, loss);
  const { system, current, log } = run;
  const base = state?.lsn ?? formatLsn(run.base);
  const stateAt = (lsn: string): ChangesState => ({
    mode: "changes",
    system,
    lsn,
    table: tableAt(table, lsn),
  });
  if (isCopied) {
    yield* copyTable(ctx, session, stream, { ...stateAt(base), ...(rows && { rows }) }, current);
    yield checkpoint(stateAt(base));
  }
  const key = tableOf(stream);
  const moment = current.get();
  const changes = log.changesOf(key, parseLsn(base), moment);
  yield* toOutput(ctx, session, moment, stream, { changes, table, stateAt });
  run.left.delete(key);
  if (run.left.size === 0) await endRun(ctx, session, run);
  yield checkpoint(stateAt(formatLsn(log.border)));
}

/** Behind the change of a table's columns the log has those of today. */
function tableAt({ changedAt, ...table }: TableState, lsn: string): TableState {
  const isBefore = changedAt !== undefined && parseLsn(lsn) < parseLsn(changedAt);
  return { ...table, ...(isBefore && { changedAt }) };
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

interface StreamChanges {
  readonly changes: AsyncIterable<Iterable<LogItem>>;
  readonly table: TableState;
  readonly stateAt: (lsn: string) => ChangesState;
}

async function* toOutput(
  ctx: PostgresContext,
  session: Session,
  moment: Moment,
  stream: SelectedStream,
  { changes, table, stateAt }: StreamChanges,
): AsyncGenerator<Output<State>> {
  const { primaryKey: key = [] } = stream;
  const changedAt = parseLsn(table.changedAt ?? "0/0");
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
      if (relation.oid !== table.oid) yield* beginAnew(ctx, stream, "another table has its name");
      if (change.kind === "truncate") yield* beginAnew(ctx, stream, "the table was truncated");
      if (change.kind === "oversized") throw oversized(stream);
      if (described !== relation || !rows) {
        yield* flush();
        rows = await createChangeRows(session, relation, { fields, key });
        described = relation;
      }
      addChange(rows, unresolved, item, lsn < changedAt);
      if (rows.bytes < flushBytes && unresolved.size < maxUnresolved) continue;
      bytesSince += rows.bytes;
      yield* flush();
    }
  yield* flush();
}

const oversized = ({ namespace = "public", name }: SelectedStream) =>
  new ConnectorError("RECORD_TOO_LARGE", {
    stream: labelOf({ schema: namespace, name }),
    limit: maxMessageBytes,
    problem: oversizedAdvice,
  });

/**
 * Adds the rows that a change makes; the key of one that the log has not as a whole is noted.
 * @param isOld the log may have other columns than the table has now
 */
function addChange(
  rows: ChangeRows,
  unresolved: Map<string, readonly string[]>,
  { change, relation, lsn, time }: Extract<LogItem, { kind: "change" }>,
  isOld: boolean,
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
  if (!isOld && rows.add({ tuple: row, before: isWhole, lsn })) resolve(row);
  else {
    const values = rows.keyOf(row);
    unresolved.set(JSON.stringify(values), values);
  }
}

/**
 * Rows as they were at the border, with all changes that the run reads. Those that are gone are
 * deleted, or have another key, later in the log.
 * @throws DATA_CHANGED as {@link requireVisible}
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
    let rowCount = 0;
    for await (const { batch: some } of copyRows(session, query, {
      ...projection,
      maxRows: ctx.config.page_size,
    })) {
      rowCount += some.rowCount;
      yield batch(some);
    }
    if (rowCount < keys.length) await requireVisible(session);
  };
  yield* inSnapshot(session, work, { hasTimeout: false, snapshot });
}
