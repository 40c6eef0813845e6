import { randomUUID } from "node:crypto";
import { mkdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ConnectorError } from "svc-connectors";
import {
  changedTypes,
  columnNames,
  createCommitPace,
  createNulledCounts,
  type DestinationSink,
  type DestinationStream,
  descriptorOf,
  destinationModeOf,
  planWrite,
  requireKeys,
  type StreamDescriptor,
  shortHash,
  streamColumns,
  streamKey,
  type WriteCommand,
} from "svc-connectors/destination";
import { toColumn } from "../duckdb/columns.ts";
import { openDatabase } from "../duckdb/database.ts";
import { duckdbFailed } from "../duckdb/failures.ts";
import { batchNeeds } from "../duckdb/fit.ts";
import { notesColumn } from "../duckdb/notes.ts";
import { mergeOf } from "../duckdb/open-stream.ts";
import { sliceOf } from "../duckdb/slices.ts";
import { createStage, type StagedBatch } from "../duckdb/stage.ts";
import { shortTableName, typesByName } from "../duckdb/tables.ts";
import { openDecimal } from "../duckdb/types.ts";
import { abandon, commit, complete, dropNext } from "./completion.ts";
import { removeLeftovers, removeReplaced } from "./leftovers.ts";
import { type OpenManifest, openManifest, type SavedTable } from "./manifest.ts";
import { openTables } from "./opening.ts";
import type { Lake } from "./store.ts";
import { isFree, nowText, type OpenStream, type Writing, working } from "./writing.ts";

/**
 * Opens a writer. Rows are gathered in a private folder and written in bulk; files, states and the
 * look at the fence are one write of the manifest, so a crash at any moment leaves all or nothing.
 * @throws OUTPUT_FAILED, OUTPUT_FENCED, TABLE_CONFLICT, CONFIG_INVALID
 */
export async function openWriter(lake: Lake, command: WriteCommand): Promise<DestinationSink> {
  for (const { configured } of command.streams)
    if (destinationModeOf(configured) === "append_dedup") requireKeys(configured);
  const { owner, fence } = command;
  try {
    const manifest = await openManifest(lake.store, { owner, fence, at: () => nowText(lake) });
    const tables = await openTables(lake, command, manifest.now.tables);
    await forgetRemoved(manifest, [...tables.values()]);
    await removeLeftovers(lake, command, manifest);
    const path = join(scratchOf(lake), `${shortHash(owner)}-${fence}`, "rows.duckdb");
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const database = await openDatabase(path);
    const connection = await database.connect();
    const pace = createCommitPace(lake.clock);
    const nulled = createNulledCounts();
    const writing = { lake, manifest, database, connection, tables, command, pace, nulled };
    return createSink(writing, path);
  } catch (error) {
    throw duckdbFailed(error);
  }
}

/** Forgets the tables whose folders somebody removed. */
async function forgetRemoved(manifest: OpenManifest, opened: readonly SavedTable[]): Promise<void> {
  const isGone = ({ schema, name, current, next }: SavedTable) =>
    (current ?? next) !== undefined &&
    opened.some((one) => one.schema === schema && one.name === name && !one.current && !one.next);
  if (!manifest.now.tables.some(isGone)) return;
  await manifest.commit(({ tables }) => ({ tables: tables.filter((one) => !isGone(one)) }));
}

export const scratchOf = ({ scratch }: Lake) => join(scratch, "_svc", "scratch");

function createSink(writing: Writing, path: string): DestinationSink {
  const { database, connection, tables, command, pace, lake, manifest } = writing;
  const ordered = new Map(
    command.streams.map((one) => [streamKey(descriptorOf(one.configured)), one]),
  );
  const open = new Map<string, OpenStream>();
  let isClosed = false;

  const at = (stream: StreamDescriptor): OpenStream => {
    const found = open.get(streamKey(stream));
    if (!found) throw new ConnectorError("INTERNAL");
    return found;
  };
  const planOf = (one: DestinationStream) => {
    const saved = tables.get(streamKey(descriptorOf(one.configured)));
    if (!saved) throw new ConnectorError("INTERNAL");
    const { current, next } = saved;
    return { saved, plan: planWrite(one.configured, { current, next }, one.isRestart) };
  };

  async function start(stream: StreamDescriptor): Promise<void> {
    const one = ordered.get(streamKey(stream));
    if (!one) throw new ConnectorError("INTERNAL");
    const { saved, plan } = planOf(one);
    const begun = { saved };
    if (plan.place === "next" && !plan.isResumed) await dropNext(writing, begun);
    const named = streamColumns(one.configured, saved.columnNames);
    const columns = named.map(toColumn);
    open.set(streamKey(stream), {
      ordered: one,
      plan,
      columns,
      merge: mergeOf(one, plan, columns),
      stage: createStage(join(dirname(path), randomUUID())),
      seenTypes: undefined,
      saved: { ...begun.saved, columnNames: columnNames(named, saved.columnNames) },
      rowCount:
        saved[plan.place] && begun.saved[plan.place] ? (saved[plan.place]?.rowCount ?? 0) : 0,
      covered: undefined,
    });
  }

  async function add(stream: OpenStream, batch: StagedBatch): Promise<void> {
    const { stage } = stream;
    if (command.onColumnChanged) stream.seenTypes ??= typesBefore(stream);
    const room = isFree(stream) ? bulk.rows - stage.rowCount : Number.POSITIVE_INFINITY;
    const isCut = batch.rowCount > room;
    const rows = isCut ? sliceOf(batch, 0, room) : batch;
    await stage.add(rows, batchNeeds(rows, stream.columns));
    stream.rowCount += rows.rowCount;
    if ((stage.rowCount >= bulk.rows || stage.byteCount >= bulk.bytes) && isFree(stream))
      await commit(writing, stream, { rowCount: stream.rowCount, state: undefined });
    if (isCut) await add(stream, sliceOf(batch, room, batch.rowCount));
  }

  async function end(stream: StreamDescriptor, isComplete: boolean): Promise<void> {
    const ended = at(stream);
    open.delete(streamKey(stream));
    try {
      await (isComplete ? complete : abandon)(writing, ended);
      reportChangedTypes(ended);
    } finally {
      await ended.stage.remove();
    }
  }

  /** The types before the rows; without those of open decimals, which their first values decide. */
  const typesBefore = ({ saved, columns }: OpenStream) =>
    typesByName(saved.current?.columns ?? columns.filter(({ type }) => type !== openDecimal));

  function reportChangedTypes({ saved, seenTypes }: OpenStream): void {
    if (!command.onColumnChanged || !seenTypes || !saved.current) return;
    for (const change of changedTypes(saved.stream, seenTypes, typesByName(saved.current.columns)))
      command.onColumnChanged(change);
  }

  return {
    lineFormat: "rows",
    savedState: () =>
      command.streams.flatMap((one) => {
        const { plan, saved } = planOf(one);
        return plan.state === undefined ? [] : [{ stream: saved.stream, state: plan.state }];
      }),
    location(stream) {
      const saved = tables.get(streamKey(stream));
      return saved?.current ? shortTableName({ database: "", ...saved }) : "";
    },
    async open() {},
    writeBatch: (stream, { rowCount, columns, notes }) =>
      working(writing, () =>
        add(at(stream), { rowCount, columns, meta: notesColumn(notes, rowCount) }),
      ),
    checkpoint: (stream, state, rowCount) =>
      working(writing, async () => {
        const reached = at(stream);
        pace.add(rowCount);
        reached.stage.markCovered();
        reached.covered = { rowCount: reached.rowCount, state };
        if (pace.isDue("checkpoint")) await commit(writing, reached, reached.covered);
      }),
    status: (stream, status) =>
      working(writing, () =>
        status === "started" ? start(stream) : end(stream, status === "complete"),
      ),
    async close() {
      if (isClosed) return;
      isClosed = true;
      try {
        await working(writing, async () => {
          for (const { saved } of open.values()) await end(saved.stream, false);
          await removeReplaced(lake, manifest);
        });
      } finally {
        for (const { stage } of open.values()) await stage.remove().catch(() => undefined);
        connection.closeSync();
        await database[Symbol.asyncDispose]();
        await rm(dirname(path), { recursive: true, force: true });
      }
    },
    nulledCount: writing.nulled.of,
  };
}

/** Rows that become files at a time where no checkpoint decides it. */
const bulk = { rows: 1_000_000, bytes: 256 * 1024 * 1024 } as const;
