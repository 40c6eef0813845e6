/** Which rows of a table the source has no more: its keys, against those that the source has. */
import { ConnectorError } from "svc-connectors";
import {
  type CompareCommand,
  type ComparedKeys,
  type DestinationStream,
  deletedAtColumn,
  deletesRefusal,
  descriptorOf,
  ownColumns,
  quoteName,
  requireKeys,
  type Sink,
  type StreamDescriptor,
  streamKey,
  unreadableKeys,
} from "svc-connectors/destination";
import { type BatchEncoder, createBatchEncoder } from "./batch-encoder.ts";
import { type Column, columnsOf } from "./columns.ts";
import { type Copy, openCopy } from "./copy.ts";
import { toFailure } from "./failures.ts";
import { openStreams, type PlannedStream, sessionOf } from "./opening.ts";
import { createRowIds, type RowIds } from "./row-ids.ts";
import { columnsFor, type Rows } from "./rows.ts";
import { openSession, type Session } from "./session.ts";
import type { PostgresContext } from "./spec.ts";
import { holdFence } from "./state.ts";
import {
  alignTable,
  columnList,
  describeTable,
  isOurs,
  needsAlignment,
  ownColumnTypes,
  type Table,
  type TableTypes,
  tableName,
  widenToTable,
} from "./tables.ts";
import { conversion } from "./types.ts";
import { explain } from "./writer.ts";

/** A stream whose keys arrive, in a table that is gone with the session. */
interface KeyStream {
  readonly ordered: DestinationStream;
  /** Undefined: there are no rows yet. */
  readonly table: Table | undefined;
  /** Columns of the key, as wide as those of the table. */
  readonly columns: readonly Column[];
  readonly batches: BatchEncoder;
  readonly keyTable: string;
  /** Types of the table of keys. */
  readonly types: TableTypes;
  keyCount: number;
  hasUnreadable: boolean;
}

interface Comparing {
  readonly ctx: PostgresContext;
  readonly session: Session;
  readonly command: CompareCommand;
  /** One at a time in a session. */
  copying: { readonly of: KeyStream; readonly copy: Copy } | undefined;
}

/** @throws as Destination.compareKeys says */
export async function openComparison(ctx: PostgresContext, command: CompareCommand): Promise<Sink> {
  for (const { configured } of command.streams) requireKeys(configured);
  const session = await openSession(ctx, `${sessionOf(command.owner)}:${command.fence}`);
  let planned: ReadonlyMap<string, PlannedStream>;
  try {
    planned = await openStreams(session, command, ctx.config.schema);
  } catch (error) {
    await session.close();
    throw ctx.signal.aborted ? new ConnectorError("CANCELLED") : toFailure(error);
  }
  return createSink({ ctx, session, command, copying: undefined }, planned);
}

function createSink(comparing: Comparing, planned: ReadonlyMap<string, PlannedStream>): Sink {
  const { ctx, session, command } = comparing;
  const ids = createRowIds(ctx.clock.now());
  const open = new Map<string, KeyStream>();
  let tableCount = 0;
  let failure: ConnectorError | undefined;
  let isClosed = false;
  const at = (stream: StreamDescriptor): KeyStream => {
    const found = open.get(streamKey(stream));
    if (!found) throw new ConnectorError("INTERNAL");
    return found;
  };

  /** After a failure nothing is done any more: each further call throws the same. */
  async function working(work: () => Promise<void>): Promise<void> {
    if (failure) throw failure;
    try {
      await work();
    } catch (error) {
      failure = await explain(ctx, [session], command, error);
      await session.close();
      throw failure;
    }
  }

  async function start(stream: StreamDescriptor): Promise<void> {
    const plan = planned.get(streamKey(stream));
    if (!plan) throw new ConnectorError("INTERNAL");
    open.set(streamKey(stream), await openKeys(comparing, plan, ids, tableCount++));
  }

  async function end(stream: StreamDescriptor, isComplete: boolean): Promise<void> {
    const keys = at(stream);
    open.delete(streamKey(stream));
    await endCopy(comparing);
    if (isComplete) command.onCompared(await compare(comparing, keys));
    await session.client.query(`DROP TABLE ${keys.keyTable}`);
  }

  return {
    lineFormat: "rows",
    async open() {},
    writeBatch: (stream, batch) =>
      working(async () => {
        const keys = at(stream);
        // Only the key is read: a value that did not fit is one of it.
        keys.hasUnreadable ||= batch.notes.length > 0;
        const rows = keys.batches.encode(batch, Math.floor(ctx.clock.now()));
        await take(comparing, keys, rows, batch.rowCount);
      }),
    async checkpoint() {},
    status: (stream, status) =>
      working(() => (status === "started" ? start(stream) : end(stream, status === "complete"))),
    async close() {
      if (isClosed) return;
      isClosed = true;
      await session.close();
    },
  };
}

async function openKeys(
  { session: { client, server }, command: { jobId } }: Comparing,
  { ordered, saved }: PlannedStream,
  ids: RowIds,
  tableIndex: number,
): Promise<KeyStream> {
  const { configured } = ordered;
  const wanted = new Set(requireKeys(configured).keys);
  const columns = columnsOf(configured, saved.columnNames).filter(({ property }) =>
    wanted.has(property),
  );
  const table = saved.generations.current && saved.table;
  const tableTypes = table && (await describeTable(client, table));
  if (tableTypes) widenToTable(columns, tableTypes);
  const types: TableTypes = new Map([
    ...columns.map(({ name, type }) => [name, type] as const),
    ...Object.entries(ownColumnTypes),
  ]);
  const definitions = [...types].map(([name, type]) => `${quoteName(name)} ${type}`);
  await client.query(`CREATE TEMP TABLE svc_keys_${tableIndex} (${definitions.join(", ")})`);
  return {
    ordered,
    table,
    columns,
    batches: createBatchEncoder({ columns, jobId, ids, server }),
    keyTable: `pg_temp.svc_keys_${tableIndex}`,
    types,
    keyCount: 0,
    hasUnreadable: false,
  };
}

async function take(
  comparing: Comparing,
  keys: KeyStream,
  rows: Rows,
  rowCount: number,
): Promise<void> {
  const { session } = comparing;
  const needed = columnsFor(keys.columns, rows);
  const { copying } = comparing;
  if (copying && copying.of !== keys) await endCopy(comparing);
  if (needsAlignment(needed, keys.types)) {
    await endCopy(comparing);
    await alignTable(session.client, keys.keyTable, needed, keys.types);
  }
  comparing.copying ??= {
    of: keys,
    copy: openCopy(session, keys.keyTable, columnList(keys.columns)),
  };
  await comparing.copying.copy.write(rows.bytes);
  keys.keyCount += rowCount;
}

async function endCopy(comparing: Comparing): Promise<void> {
  const ending = comparing.copying;
  comparing.copying = undefined;
  await ending?.copy.end();
}

/** Marks or removes what is gone, in one transaction. */
async function compare(comparing: Comparing, keys: KeyStream): Promise<ComparedKeys> {
  const {
    session: { client },
    command: { owner, fence },
  } = comparing;
  const { ordered, table, keyTable, hasUnreadable } = keys;
  const stream = descriptorOf(ordered.configured);
  const nothing = { stream, deletedCount: 0, returnedCount: 0 };
  if (!table) return nothing;
  if (hasUnreadable) return { ...nothing, refusal: unreadableKeys };
  await client.query(`ANALYZE ${keyTable}`);
  await client.query("BEGIN");
  await holdFence(client, owner, fence);
  const compared = await follow(comparing, keys, table);
  await client.query("COMMIT");
  return { stream, ...compared };
}

const mark = `t.${quoteName(deletedAtColumn)}`;

async function follow(
  { ctx, session: { client }, command: { jobId, isConfirmed = false } }: Comparing,
  { columns, types, keyTable, keyCount, ordered }: KeyStream,
  table: Table,
): Promise<Omit<ComparedKeys, "stream">> {
  const target = tableName(table);
  const before = (await describeTable(client, table)) ?? new Map<string, string>();
  const isSoft = ordered.detectDeletes === "soft";
  const hasMark = isSoft || before.has(deletedAtColumn);
  if (isSoft && !before.has(deletedAtColumn))
    await client.query(
      `ALTER TABLE ${target} ADD COLUMN ${quoteName(deletedAtColumn)} timestamp with time zone`,
    );
  const isThere = `EXISTS (SELECT FROM ${keyTable} k WHERE ${isSameKey(columns, before, types)})`;
  const hasKey = columns.map(({ name }) => `t.${quoteName(name)} IS NOT NULL`).join(" AND ");
  const isGone = `${hasKey} AND t.${ownColumns.jobId} IS DISTINCT FROM $1 AND NOT ${isThere}`;
  const isUnmarked = hasMark ? `${mark} IS NULL` : "true";
  const changed = async (sql: string, values: unknown[] = []) =>
    (await client.query(sql, values)).rowCount ?? 0;
  const count = async (condition: string, values: unknown[] = []) => {
    const { rows } = await client.query<{ count: string }>(
      `SELECT count(*) AS count FROM ${target} t WHERE ${condition}`,
      values,
    );
    return Number(rows[0]?.count);
  };
  const returnedCount = hasMark
    ? await changed(
        `UPDATE ${target} t SET ${quoteName(deletedAtColumn)} = NULL WHERE ${mark} IS NOT NULL AND ${isThere}`,
      )
    : 0;
  const counts = {
    keyCount,
    rowCount: await count(isUnmarked),
    goneCount: await count(`${isUnmarked} AND ${isGone}`, [jobId]),
  };
  const refusal = isConfirmed ? undefined : deletesRefusal(counts);
  if (refusal !== undefined) return { deletedCount: 0, returnedCount, refusal };
  const deletedCount = isSoft
    ? await changed(
        `UPDATE ${target} t SET ${quoteName(deletedAtColumn)} = to_timestamp($2::float8 / 1000) WHERE ${isUnmarked} AND ${isGone}`,
        [jobId, ctx.clock.now()],
      )
    : await changed(`DELETE FROM ${target} t WHERE ${isGone}`, [jobId]);
  return { deletedCount, returnedCount };
}

/** The keys of the table are compared as the wider type has them. */
const isSameKey = (columns: readonly Column[], tableTypes: TableTypes, keyTypes: TableTypes) =>
  columns
    .map(({ name, type: first }) => {
      const known = `t.${quoteName(name)}`;
      const from = tableTypes.get(name);
      const to = keyTypes.get(name) ?? first;
      const isSame = from === undefined || from === to;
      const value = isSame
        ? known
        : isOurs(from) && isOurs(to)
          ? conversion(known, from, to)
          : `${known}::${to}`;
      return `k.${quoteName(name)} = ${value}`;
    })
    .join(" AND ");
