import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { ConnectorError } from "svc-connectors";
import {
  columnNames,
  createCommitPace,
  createNulledCounts,
  type DestinationSink,
  type DestinationStream,
  descriptorOf,
  destinationModeOf,
  mergeKeys,
  planWrite,
  requireKeys,
  type StreamDescriptor,
  streamColumns,
  streamKey,
  type WriteCommand,
} from "svc-connectors/destination";
import { toColumns } from "./columns.ts";
import { commit, dropNext } from "./commit.ts";
import { abandon, complete } from "./completion.ts";
import { contentOf, openDatabase } from "./database.ts";
import { working } from "./failures.ts";
import { batchNeeds } from "./fit.ts";
import { notesColumn } from "./notes.ts";
import { generationOf, isFree, mergeOf, type OpenStream } from "./open-stream.ts";
import { openTables } from "./opening.ts";
import { reportChangedTypes } from "./seen-types.ts";
import { sliceOf } from "./slices.ts";
import type { DuckdbContext } from "./spec.ts";
import { createStage, type StagedBatch } from "./stage.ts";
import type { SavedTable } from "./state.ts";
import { nextTable, shortTableName } from "./tables.ts";
import type { Writing } from "./writing.ts";

/**
 * Opens a writer. Rows are gathered in a private file and loaded in bulk; rows, state and the look
 * at the fence are one transaction, so a crash at any moment leaves all or nothing.
 * @throws OUTPUT_BUSY, OUTPUT_FAILED, OUTPUT_FENCED, TABLE_CONFLICT, CONFIG_INVALID
 */
export async function openWriter(
  { path, config, clock }: DuckdbContext,
  command: WriteCommand,
): Promise<DestinationSink> {
  for (const { configured } of command.streams)
    if (destinationModeOf(configured) === "append_dedup") requireKeys(configured);
  const database = await openDatabase(path, contentOf(command.streams));
  try {
    const opened = await working(() => openTables(database, command, config.schema));
    const pace = createCommitPace(clock);
    const unwritten = { columnCount: 0 };
    const remembered = { byteCount: 0 };
    const nulled = createNulledCounts();
    return createSink({ database, command, clock, pace, unwritten, remembered, nulled, ...opened });
  } catch (error) {
    await database[Symbol.asyncDispose]();
    throw error;
  }
}

function createSink(writing: Writing): DestinationSink {
  const { database, connection, tables, command, pace, unwritten } = writing;
  const streams = createOpenStreams(writing);
  let isClosed = false;

  async function end(stream: StreamDescriptor, isComplete: boolean): Promise<void> {
    const ended = streams.take(stream);
    try {
      await (isComplete ? complete : abandon)(writing, ended);
      await reportChangedTypes(writing, ended);
    } finally {
      await ended.stage.remove();
    }
    if (unwritten.columnCount * database.blockBytes < maxUnwrittenBytes) return;
    await database.checkpoint(connection);
    unwritten.columnCount = 0;
  }

  async function add(open: OpenStream, batch: StagedBatch): Promise<void> {
    const { stage } = open;
    const room = isFree(open) ? bulk.rows - stage.rowCount : Number.POSITIVE_INFINITY;
    const isCut = batch.rowCount > room;
    const rows = isCut ? sliceOf(batch, 0, room) : batch;
    await stage.add(rows, batchNeeds(rows, open.columns));
    open.rowCount += rows.rowCount;
    if ((stage.rowCount >= bulk.rows || stage.byteCount >= bulk.bytes) && isFree(open))
      await commit(writing, open, generationOf(open, undefined));
    if (isCut) await add(open, sliceOf(batch, room, batch.rowCount));
  }

  return {
    lineFormat: "rows",
    savedState: () =>
      command.streams.flatMap((ordered) => {
        const stream = descriptorOf(ordered.configured);
        const saved = tables.get(streamKey(stream));
        const state = saved && planOf(ordered, saved).state;
        return state === undefined ? [] : [{ stream, state }];
      }),
    location(stream) {
      const saved = tables.get(streamKey(stream));
      return saved?.generations.current ? shortTableName(saved.table) : "";
    },
    async open() {},
    writeBatch: (stream, { rowCount, columns, notes }) =>
      working(() =>
        add(streams.at(stream), { rowCount, columns, meta: notesColumn(notes, rowCount) }),
      ),
    checkpoint: (stream, state, rowCount) =>
      working(async () => {
        const open = streams.at(stream);
        pace.add(rowCount);
        const { sync_mode, stream: described } = open.ordered.configured;
        if (sync_mode === "full_refresh" && !described.is_resumable) return;
        open.covered = generationOf(open, state);
        open.stage.markCovered();
        if (pace.isDue("checkpoint") || open.stage.byteCount >= bulk.bytes)
          await commit(writing, open, open.covered);
      }),
    status: (stream, status) =>
      working(() =>
        status === "started" ? streams.start(stream) : end(stream, status === "complete"),
      ),
    async close() {
      if (isClosed) return;
      isClosed = true;
      try {
        await working(async () => {
          for (const { saved } of streams.list()) await end(saved.stream, false);
        });
      } finally {
        for (const { stage } of streams.list()) await stage.remove().catch(() => undefined);
        connection.closeSync();
        await database[Symbol.asyncDispose]();
      }
    },
    nulledCount: writing.nulled.of,
  };
}

const planOf = (ordered: DestinationStream, { generations }: SavedTable) =>
  planWrite(ordered.configured, generations, ordered.isRestart);

/** The streams that have started and not ended. */
function createOpenStreams(writing: Writing) {
  const { database, tables, command } = writing;
  const byKey = new Map(
    command.streams.map((ordered) => [streamKey(descriptorOf(ordered.configured)), ordered]),
  );
  const openStreams = new Map<string, OpenStream>();
  const stageName = randomUUID();
  let stageCount = 0;

  function at(stream: StreamDescriptor): OpenStream {
    const found = openStreams.get(streamKey(stream));
    if (!found) throw new ConnectorError("INTERNAL");
    return found;
  }
  return {
    at,
    list: (): readonly OpenStream[] => [...openStreams.values()],
    /** Gives the stream, which is open no more. */
    take(stream: StreamDescriptor): OpenStream {
      const taken = at(stream);
      openStreams.delete(streamKey(stream));
      return taken;
    },
    async start(stream: StreamDescriptor): Promise<void> {
      const saved = tables.get(streamKey(stream));
      const ordered = byKey.get(streamKey(stream));
      if (!saved || !ordered) throw new ConnectorError("INTERNAL");
      const plan = planOf(ordered, saved);
      if (plan.place === "next" && !plan.isResumed && saved.generations.next)
        await dropNext(writing, saved);
      const named = streamColumns(ordered.configured, saved.columns);
      const hasNewColumns = named.some(({ property }) => !Object.hasOwn(saved.columns, property));
      saved.columns = columnNames(named, saved.columns);
      const columns = toColumns(named, mergeKeys(ordered.configured));
      const base = saved.generations[plan.place];
      const stagePath = join(database.stageFolder, `${stageName}-${stageCount++}`);
      openStreams.set(streamKey(stream), {
        saved,
        ordered,
        plan,
        columns,
        seenTypes: undefined,
        merge: mergeOf(ordered, plan, columns),
        stage: createStage(stagePath),
        target: plan.place === "current" ? saved.table : nextTable(saved.table),
        hasTable: base !== undefined,
        hasNewColumns,
        tableColumns: undefined,
        rowCount: base?.rowCount ?? 0,
        covered: undefined,
      });
    },
  };
}

/**
 * Of each column that was written since the last checkpoint DuckDB holds at least a block of the
 * file in memory; it looks at the rows only.
 */
const maxUnwrittenBytes = 96 * 1024 * 1024;

/**
 * Rows loaded at a time where no checkpoint decides it: exactly two groups of DuckDB's, which are
 * written once then. A row more would make groups of a few rows, and half as much work again. What
 * a transaction has not committed, DuckDB holds in memory several times.
 */
const bulk = { rows: 245_760, bytes: 64 * 1024 * 1024 } as const;
