/**
 * The sink: rows are encoded as they arrive and go to the server by COPY; rows and state are
 * committed together, fence in hand. Of a stream that does not come to its end, the rows that its
 * last checkpoint covers are kept.
 */
import { ConnectorError } from "svc-connectors";
import {
  changedTypes,
  createCommitPace,
  createNulledCounts,
  type DestinationSink,
  descriptorOf,
  type Generation,
  type StreamDescriptor,
  streamKey,
  type WriteCommand,
} from "svc-connectors/destination";
import { commit, send, transactionOf } from "./commit.ts";
import { abandon, complete } from "./completion.ts";
import { toFailure } from "./failures.ts";
import { generationOf, type OpenStream, openStream } from "./open-stream.ts";
import { openStreams, type PlannedStream, sessionOf } from "./opening.ts";
import { createRowIds } from "./row-ids.ts";
import type { Rows } from "./rows.ts";
import { openSession, type Session } from "./session.ts";
import type { PostgresContext } from "./spec.ts";
import { readFence } from "./state.ts";
import { describeTable, tableName } from "./tables.ts";
import type { Writing } from "./writing.ts";

/** Bytes that are gathered before they go to the server. */
const sendBytes = 1024 * 1024;
/**
 * Bytes that wait in memory for their checkpoint; more go to the server, from which they may be
 * taken back.
 */
const waitBytes = 8 * 1024 * 1024;

const sessionName = ({ owner, fence }: WriteCommand) => `${sessionOf(owner)}:${fence}`;

/** @throws as Destination.write says */
export async function openWriter(
  ctx: PostgresContext,
  command: WriteCommand,
): Promise<DestinationSink> {
  const session = await openSession(ctx, sessionName(command));
  let planned: ReadonlyMap<string, PlannedStream>;
  try {
    planned = await openStreams(session, command, ctx.config.schema);
  } catch (error) {
    await session.close();
    throw ctx.signal.aborted ? new ConnectorError("CANCELLED") : toFailure(error);
  }
  const nulled = createNulledCounts();
  return createSink(createWriting({ ctx, command, nulled }, session), planned);
}

const createWriting = (
  { ctx, command, nulled }: Pick<Writing, "ctx" | "command" | "nulled">,
  session: Session,
): Writing => ({
  ctx,
  command,
  session,
  nulled,
  pace: createCommitPace(ctx.clock),
  transaction: undefined,
});

/** Streams that are read at the same time have a session each: a transaction holds rows of one. */
function createSink(first: Writing, planned: ReadonlyMap<string, PlannedStream>): DestinationSink {
  const { ctx, command } = first;
  const ids = createRowIds(
    Math.max(ctx.clock.now(), ...[...planned.values()].map(({ saved }) => saved.updatedAtMs + 1)),
  );
  const openByKey = new Map<string, StreamWriting>();
  const sessions = [first.session];
  const unused = [first];
  let failure: ConnectorError | undefined;
  let isClosed = false;

  function openAt(stream: StreamDescriptor): StreamWriting {
    const found = openByKey.get(streamKey(stream));
    if (!found) throw new ConnectorError("INTERNAL");
    return found;
  }

  async function takeWriting(): Promise<Writing> {
    const ready = unused.pop();
    if (ready) return ready;
    const another = createWriting(first, await openSession(ctx, sessionName(command)));
    sessions.push(another.session);
    return another;
  }

  const closeSessions = () => Promise.all(sessions.map((session) => session.close()));

  const advanceIds = (): number => {
    const nowMs = Math.floor(ctx.clock.now());
    ids.at(nowMs);
    return nowMs;
  };

  async function start(stream: StreamDescriptor): Promise<void> {
    const key = streamKey(stream);
    const plan = planned.get(key);
    if (!plan) throw new ConnectorError("INTERNAL");
    const writing = await takeWriting();
    const open = await openStream(writing.session, plan, stream, command.jobId, ids);
    openByKey.set(key, { writing, open });
  }

  async function end(stream: StreamDescriptor, isComplete: boolean): Promise<void> {
    const ended = openAt(stream);
    openByKey.delete(ended.open.key);
    await (isComplete ? complete : abandon)(ended.writing, ended.open);
    await reportChangedTypes(ended);
    unused.push(ended.writing);
  }

  async function reportChangedTypes({ writing, open }: StreamWriting): Promise<void> {
    const { stream, planned, seenTypes } = open;
    const { saved } = planned;
    if (!command.onColumnChanged || !saved.generations.current) return;
    const after = await describeTable(writing.session.client, saved.table);
    for (const change of after ? changedTypes(stream, seenTypes, after) : [])
      command.onColumnChanged(change);
  }

  /** After a failure nothing is written any more: each further call throws the same. */
  async function working(work: () => Promise<void>): Promise<void> {
    if (failure) throw failure;
    try {
      await work();
    } catch (error) {
      failure = await explain(ctx, sessions, command, error);
      await closeSessions();
      throw failure;
    }
  }

  return {
    lineFormat: "rows",
    savedState: () =>
      [...planned.values()].flatMap(({ ordered, plan }) =>
        plan.state === undefined
          ? []
          : [{ stream: descriptorOf(ordered.configured), state: plan.state }],
      ),
    location(stream) {
      const saved = planned.get(streamKey(stream))?.saved;
      return saved?.generations.current ? tableName(saved.table) : "";
    },
    open: async () => {},
    writeBatch: (stream, batch) =>
      working(async () => {
        const { writing, open } = openAt(stream);
        if (batch.rowCount === 0) return;
        const nowMs = advanceIds();
        await gather(writing, open, open.batches.encode(batch, nowMs), batch.rowCount);
      }),
    checkpoint: (stream, state, rowCount) =>
      working(() => {
        const { writing, open } = openAt(stream);
        return checkpoint(writing, open, state, rowCount);
      }),
    status: (stream, status) =>
      working(() => (status === "started" ? start(stream) : end(stream, status === "complete"))),
    async close() {
      if (isClosed) return;
      isClosed = true;
      try {
        if (!failure)
          await working(async () => {
            for (const { open } of [...openByKey.values()]) await end(open.stream, false);
          });
      } finally {
        await closeSessions();
      }
    },
    nulledCount: first.nulled.of,
  };
}

/** A stream and the session that writes it. */
interface StreamWriting {
  readonly writing: Writing;
  readonly open: OpenStream;
}

/** Takes encoded rows; many of them go to the server. */
async function gather(
  writing: Writing,
  stream: OpenStream,
  rows: Rows,
  rowCount: number,
): Promise<void> {
  const { pace } = writing;
  stream.waiting.push(rows);
  stream.waitingBytes += rows.bytes.length;
  stream.rowCount += rowCount;
  writing.nulled.add(stream.stream, rows.nulledCount ?? 0);
  if (stream.isFree) {
    pace.add(rowCount);
    if (stream.waitingBytes >= sendBytes) await send(writing, stream, "waiting");
    if (writing.transaction?.of === stream && pace.isDue("checkpoint"))
      await commit(writing, stream);
  } else if (stream.waitingBytes >= waitBytes) {
    await send(writing, stream, "covered");
    const transaction = await transactionOf(writing, stream);
    if (!transaction.isMarked) await transaction.mark();
    await send(writing, stream, "waiting");
  }
}

/** The rows that wait are covered by this state. */
async function checkpoint(
  writing: Writing,
  stream: OpenStream,
  state: Generation["state"],
  rowCount: number,
): Promise<void> {
  if (stream.isFree) return;
  const { pace, transaction } = writing;
  pace.add(rowCount);
  stream.covered.push(...stream.waiting);
  stream.coveredBytes += stream.waitingBytes;
  stream.waiting = [];
  stream.waitingBytes = 0;
  stream.coveredRowCount = stream.rowCount;
  stream.state = state;
  stream.checkpoint = generationOf(stream, stream.rowCount, state);
  const isMarked = transaction?.of === stream && transaction.it.isMarked;
  if (isMarked || pace.isDue("checkpoint")) await commit(writing, stream);
  else if (stream.coveredBytes >= sendBytes) await send(writing, stream, "covered");
}

/** A successor ends the sessions of those before it: then that is why the connection is gone. */
export async function explain(
  ctx: PostgresContext,
  sessions: readonly Session[],
  { owner, fence }: Pick<WriteCommand, "owner" | "fence">,
  error: unknown,
): Promise<ConnectorError> {
  if (ctx.signal.aborted) return new ConnectorError("CANCELLED");
  const failure = toFailure(error);
  if (failure.code !== "CONNECTION_FAILED") return failure;
  for (const { stream } of sessions) stream.destroy();
  await Promise.all(sessions.map((session) => session.close()));
  try {
    const asking = await openSession(ctx, "svc");
    const noted = await readFence(asking.client, owner).finally(() => asking.close());
    return noted > fence ? new ConnectorError("OUTPUT_FENCED") : failure;
  } catch {
    return failure;
  }
}
