/**
 * The sink: rows are encoded as they arrive and go to the server by COPY; rows and state are
 * committed together, fence in hand. Of a stream that does not come to its end, the rows that its
 * last checkpoint covers are kept.
 */
import { ConnectorError } from "svc-connectors";
import {
  createCommitPace,
  type DestinationSink,
  descriptorOf,
  type Generation,
  type StreamDescriptor,
  streamKey,
  type WriteCommand,
} from "svc-connectors/destination";
import { toFailure } from "./failures.ts";
import { deduplicate, removeRepeated } from "./merge.ts";
import { generationOf, type OpenStream, openStream } from "./open-stream.ts";
import { openStreams, type PlannedStream, sessionOf } from "./opening.ts";
import { createRowIds } from "./row-ids.ts";
import { openSession, type Session } from "./session.ts";
import type { PostgresContext } from "./spec.ts";
import { deletedTable, holdFence, nextTable, readFence, saveGeneration } from "./state.ts";
import { addRows, swapTable } from "./swap.ts";
import { tableName } from "./tables.ts";
import { beginTransaction, type Transaction } from "./transaction.ts";

/** Bytes that are gathered before they go to the server. */
const sendBytes = 1024 * 1024;
/**
 * Bytes that wait in memory for their checkpoint; more go to the server, from which they may be
 * taken back.
 */
const waitBytes = 8 * 1024 * 1024;

/** @throws as Destination.write says */
export async function openWriter(
  ctx: PostgresContext,
  order: WriteCommand,
): Promise<DestinationSink> {
  const { owner, jobId, fence } = order;
  const session = await openSession(ctx, `${sessionOf(owner)}:${fence}`);
  let streams: Map<string, PlannedStream>;
  try {
    streams = await openStreams(session, order, ctx.config.schema);
  } catch (error) {
    await session.close();
    throw ctx.signal.aborted ? new ConnectorError("CANCELLED") : toFailure(error);
  }
  const { client } = session;
  const startMs = Math.max(
    ctx.clock.now(),
    ...[...streams.values()].map(({ saved }) => saved.updatedAtMs + 1),
  );
  const ids = createRowIds(startMs);
  const pace = createCommitPace(ctx.clock);
  const openByKey = new Map<string, OpenStream>();
  let transaction: { readonly of: OpenStream; readonly it: Transaction } | undefined;
  let failure: ConnectorError | undefined;
  let isClosed = false;

  function plannedAt(stream: StreamDescriptor): PlannedStream {
    const found = streams.get(streamKey(stream));
    if (!found) throw new ConnectorError("INTERNAL");
    return found;
  }

  function openAt(stream: StreamDescriptor): OpenStream {
    const found = openByKey.get(streamKey(stream));
    if (!found) throw new ConnectorError("INTERNAL");
    return found;
  }

  async function start(stream: StreamDescriptor): Promise<void> {
    openByKey.set(
      streamKey(stream),
      await openStream(client, plannedAt(stream), stream, jobId, ids.next),
    );
  }

  async function begun(stream: OpenStream): Promise<Transaction> {
    if (transaction && transaction.of !== stream) await commit(transaction.of);
    transaction ??= { of: stream, it: await beginTransaction(session, owner, stream) };
    return transaction.it;
  }

  async function send(stream: OpenStream, part: "covered" | "waiting"): Promise<void> {
    const rows = stream[part];
    if (rows.length === 0) return;
    const open = await begun(stream);
    await open.write(rows);
    stream[part] = [];
    stream[`${part}Bytes`] = 0;
  }

  /**
   * Commits what the last checkpoint covers, or with `finish` all; `finish` says what is known of
   * the copies then.
   */
  async function commit(
    stream: OpenStream,
    finish?: (open: Transaction) => Promise<PlannedStream["saved"]["generations"]>,
  ): Promise<void> {
    await send(stream, "covered");
    const open = await begun(stream);
    await open.finish();
    const { saved, plan } = stream.planned;
    const before = saved.generations;
    const known =
      stream.checkpoint ?? (stream.isFree ? generationOf(stream, stream.rowCount) : undefined);
    const generations = finish
      ? await finish(open)
      : { ...before, ...(known ? { [plan.place]: known } : {}) };
    await holdFence(client, owner, fence);
    const nowMs = Math.max(ctx.clock.now(), saved.updatedAtMs);
    for (const slot of ["current", "next"] as const)
      if (generations[slot] !== before[slot])
        await saveGeneration(client, open.id, slot, generations[slot], nowMs);
    await client.query("COMMIT");
    transaction = undefined;
    pace.committed();
    const { table } = saved;
    stream.planned.saved = { ...saved, id: open.id, table, generations, updatedAtMs: nowMs };
    stream.types = new Map(open.types);
    const written = finish || stream.isFree ? stream.rowCount : stream.coveredRowCount;
    const state = generations[finish ? "current" : plan.place]?.state;
    const rowCount = written - stream.committedRowCount;
    stream.committedRowCount = written;
    stream.checkpoint = undefined;
    order.onCommitted?.({
      stream: stream.stream,
      rowCount,
      ...(state === undefined ? {} : { state }),
    });
  }

  async function complete(stream: OpenStream): Promise<void> {
    await send(stream, "covered");
    await send(stream, "waiting");
    const { saved, plan } = stream.planned;
    const state = stream.configured.sync_mode === "incremental" ? stream.state : undefined;
    const current = generationOf(stream, stream.rowCount, state);
    await commit(stream, async ({ id, table, types }) => {
      if (plan.place === "current") return { ...saved.generations, current };
      const isOurs = saved.generations.current !== undefined;
      if (stream.merge) {
        await client.query(`DROP TABLE IF EXISTS ${tableName(deletedTable(id))}`);
        await deduplicate(client, tableName(table), stream.merge, id);
      } else if (stream.repeatedKeys.length > 0) {
        await removeRepeated(client, tableName(table), { keys: stream.repeatedKeys });
      }
      // What an earlier job has begun is this one's from now on: a later attempt of it must find
      // all of its rows.
      if (plan.isResumed && current.destinationMode === "append")
        await client.query(
          `UPDATE ${tableName(table)} SET _svc_job_id = $1 WHERE _svc_job_id <> $1`,
          [jobId],
        );
      const isAdded = plan.completion === "add" && isOurs;
      // The job did this before, and was killed before it knew.
      if (isAdded && saved.generations.current?.jobId === jobId)
        await client.query(`DELETE FROM ${tableName(saved.table)} WHERE _svc_job_id = $1`, [jobId]);
      if (isAdded) await addRows(client, table, types, saved.table);
      else await swapTable(client, table, types, saved.table, isOurs);
      return {
        current: isAdded
          ? { ...current, rowCount: current.rowCount + (saved.generations.current?.rowCount ?? 0) }
          : current,
      };
    });
  }

  /** Keeps what the last checkpoint covers; a copy that nothing can resume is removed. */
  async function abandon(stream: OpenStream): Promise<void> {
    stream.waiting = [];
    if (transaction?.of === stream && transaction.it.isMarked) await transaction.it.takeBack();
    if (stream.checkpoint) return commit(stream);
    await rollback();
    const { saved, plan } = stream.planned;
    if (
      !stream.isFree ||
      plan.place === "current" ||
      saved.id === undefined ||
      !saved.generations.next
    )
      return;
    await client.query(`BEGIN; DROP TABLE IF EXISTS ${tableName(nextTable(saved.id))}`);
    await holdFence(client, owner, fence);
    await saveGeneration(client, saved.id, "next", undefined, 0);
    await client.query("COMMIT");
    const { next: _, ...generations } = saved.generations;
    stream.planned.saved = { ...saved, generations };
  }

  async function rollback(): Promise<void> {
    if (!transaction) return;
    const { it } = transaction;
    transaction = undefined;
    await it.takeBack();
    await client.query("ROLLBACK");
  }

  async function write(stream: OpenStream, lines: Buffer, rowCount: number): Promise<void> {
    if (rowCount === 0) return;
    const nowMs = Math.floor(ctx.clock.now());
    ids.at(nowMs);
    const rows = stream.encoder.encode(lines, new Date(nowMs).toISOString());
    stream.waiting.push(rows);
    stream.waitingBytes += rows.length;
    stream.rowCount += rowCount;
    if (stream.isFree) {
      pace.add(rowCount);
      if (stream.waitingBytes >= sendBytes) await send(stream, "waiting");
      if (transaction?.of === stream && pace.isDue("checkpoint")) await commit(stream);
    } else if (stream.waitingBytes >= waitBytes) {
      await send(stream, "covered");
      const open = await begun(stream);
      if (!open.isMarked) await open.mark();
      await send(stream, "waiting");
    }
  }

  async function checkpoint(
    stream: OpenStream,
    state: Generation["state"],
    rowCount: number,
  ): Promise<void> {
    if (stream.isFree) return;
    pace.add(rowCount);
    stream.covered.push(...stream.waiting);
    stream.coveredBytes += stream.waitingBytes;
    stream.waiting = [];
    stream.waitingBytes = 0;
    stream.coveredRowCount = stream.rowCount;
    stream.state = state;
    stream.checkpoint = generationOf(stream, stream.rowCount, state);
    const isMarked = transaction?.of === stream && transaction.it.isMarked;
    if (isMarked || pace.isDue("checkpoint")) await commit(stream);
    else if (stream.coveredBytes >= sendBytes) await send(stream, "covered");
  }

  async function end(
    stream: StreamDescriptor,
    finish: (stream: OpenStream) => Promise<void>,
  ): Promise<void> {
    const ended = openAt(stream);
    openByKey.delete(ended.key);
    await finish(ended);
  }

  /** After a failure nothing is written any more: each further call throws the same. */
  async function working(work: () => Promise<void>): Promise<void> {
    if (failure) throw failure;
    try {
      await work();
    } catch (error) {
      failure = await explain(ctx, session, order, error);
      await session.close();
      throw failure;
    }
  }

  return {
    lineFormat: "rows",
    savedState: () =>
      [...streams.values()].flatMap(({ ordered, plan }) =>
        plan.state === undefined
          ? []
          : [{ stream: descriptorOf(ordered.configured), state: plan.state }],
      ),
    location(stream) {
      const saved = streams.get(streamKey(stream))?.saved;
      return saved?.generations.current ? tableName(saved.table) : "";
    },
    open: async () => {},
    write: (stream, lines, rowCount) => working(() => write(openAt(stream), lines, rowCount)),
    checkpoint: (stream, state, rowCount) =>
      working(() => checkpoint(openAt(stream), state, rowCount)),
    status: (stream, status) =>
      working(() =>
        status === "started"
          ? start(stream)
          : end(stream, status === "complete" ? complete : abandon),
      ),
    async close() {
      if (isClosed) return;
      isClosed = true;
      try {
        if (!failure)
          await working(async () => {
            for (const { stream } of [...openByKey.values()]) await end(stream, abandon);
          });
      } finally {
        await session.close();
      }
    },
  };
}

/** A successor ends the sessions of those before it: then that is why the connection is gone. */
async function explain(
  ctx: PostgresContext,
  session: Session,
  { owner, fence }: WriteCommand,
  error: unknown,
): Promise<ConnectorError> {
  if (ctx.signal.aborted) return new ConnectorError("CANCELLED");
  const failure = toFailure(error);
  if (failure.code !== "CONNECTION_FAILED") return failure;
  session.stream.destroy();
  try {
    const asking = await openSession(ctx, "svc");
    const noted = await readFence(asking.client, owner).finally(() => asking.close());
    return noted > fence ? new ConnectorError("OUTPUT_FENCED") : failure;
  } catch {
    return failure;
  }
}
