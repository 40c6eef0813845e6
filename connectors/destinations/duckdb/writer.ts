import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";
import { ConnectorError, type JsonValue } from "svc-connectors";
import {
  columnNames,
  createCommitPace,
  type DestinationSink,
  type DestinationStream,
  descriptorOf,
  destinationModeOf,
  ownColumns,
  planWrite,
  quoteName,
  requireKeys,
  type StreamDescriptor,
  streamColumns,
  streamKey,
  type WriteCommand,
} from "svc-connectors/destination";
import { toColumn } from "./columns.ts";
import { type Database, openDatabase } from "./database.ts";
import { isTaken, working } from "./failures.ts";
import { addRows, loadRows, widen, widenDoubles } from "./load.ts";
import { deduplicate, mergedBy, moveTombstones } from "./merge.ts";
import { generationOf, isFree, mergeOf, numberCare, type OpenStream } from "./open-stream.ts";
import { openTables } from "./opening.ts";
import type { DuckdbContext } from "./spec.ts";
import { createStage } from "./stage.ts";
import { checkFence, type SavedGeneration, type SavedTable, saveTable } from "./state.ts";
import {
  alignTable,
  createTable,
  nextTable,
  shortTableName,
  type Table,
  tableConflict,
  tableName,
} from "./tables.ts";

/**
 * Opens a writer. Rows are gathered in a private file and loaded in bulk; rows, state and the look
 * at the fence are one transaction, so a crash at any moment leaves all or nothing.
 * @throws OUTPUT_BUSY, OUTPUT_FAILED, OUTPUT_FENCED, TABLE_CONFLICT, CONFIG_INVALID
 */
export async function openWriter(
  { path, config, clock }: DuckdbContext,
  order: WriteCommand,
): Promise<DestinationSink> {
  for (const { configured } of order.streams)
    if (destinationModeOf(configured) === "append_dedup") requireKeys(configured);
  const database = await openDatabase(path, order.streams.length);
  let connection: DuckDBConnection;
  let tables: ReadonlyMap<string, SavedTable>;
  try {
    ({ connection, tables } = await working(() => openTables(database, order, config.schema)));
  } catch (error) {
    await database[Symbol.asyncDispose]();
    throw error;
  }
  return createSink(database, connection, tables, order, clock);
}

function createSink(
  database: Database,
  connection: DuckDBConnection,
  tables: ReadonlyMap<string, SavedTable>,
  order: WriteCommand,
  clock: DuckdbContext["clock"],
): DestinationSink {
  const { owner, jobId, fence } = order;
  const byKey = new Map(
    order.streams.map((ordered) => [streamKey(descriptorOf(ordered.configured)), ordered]),
  );
  const openStreams = new Map<string, OpenStream>();
  const pace = createCommitPace(clock);
  const stageName = randomUUID();
  const nowText = () => new Date(clock.now()).toISOString();
  let stageCount = 0;
  let endedCount = 0;
  let isClosed = false;

  const fenced = (work: () => Promise<void>) =>
    database.transaction(connection, async () => {
      await checkFence(connection, database.name, owner, fence);
      await work();
    });

  function streamAt(stream: StreamDescriptor): OpenStream {
    const found = openStreams.get(streamKey(stream));
    if (!found) throw new ConnectorError("INTERNAL");
    return found;
  }

  const planOf = (ordered: DestinationStream, { generations }: SavedTable) =>
    planWrite(ordered.configured, generations, ordered.isRestart);

  async function start(stream: StreamDescriptor): Promise<void> {
    const saved = tables.get(streamKey(stream));
    const ordered = byKey.get(streamKey(stream));
    if (!saved || !ordered) throw new ConnectorError("INTERNAL");
    const { configured } = ordered;
    const plan = planOf(ordered, saved);
    if (plan.place === "next" && !plan.isResumed && saved.generations.next) await dropNext(saved);
    const named = streamColumns(configured, saved.columns);
    saved.columns = columnNames(named, saved.columns);
    const columns = named.map(toColumn);
    const base = saved.generations[plan.place];
    openStreams.set(streamKey(stream), {
      saved,
      ordered,
      plan,
      columns,
      merge: mergeOf(ordered, plan, columns),
      stage: await createStage(
        join(database.stageFolder, `${stageName}-${stageCount++}.jsonl`),
        numberCare(columns),
      ),
      target: plan.place === "current" ? saved.table : nextTable(saved.table),
      hasTable: base !== undefined,
      isAligned: base === undefined,
      rowCount: base?.rowCount ?? 0,
      covered: undefined,
    });
  }

  /** Forgets the copy aside; its rows and its state go together. */
  async function dropNext(saved: SavedTable): Promise<void> {
    const { next: _, ...kept } = saved.generations;
    await fenced(async () => {
      const next = nextTable(saved.table);
      await connection.run(`DROP TABLE IF EXISTS ${tableName(next)}`);
      await moveTombstones(connection, next);
      await saveTable(connection, owner, saved, kept, nowText());
    });
    delete saved.generations.next;
  }

  /**
   * Loads the staged rows into `target`, between `before` and `after`, in one transaction; columns
   * are widened until every value fits. The table is made in that transaction too: it is known to
   * be ours from the moment it exists.
   */
  async function load(
    stream: OpenStream,
    target: Table,
    after: () => Promise<void>,
    before = async () => {},
  ): Promise<void> {
    const { columns, stage, merge, saved } = stream;
    const { hasTable } = stream;
    if (stage.hasLongNumbers && (await widenDoubles(connection, columns, stage)))
      stream.isAligned = false;
    for (;;) {
      try {
        await fenced(async () => {
          await before();
          if (!stream.hasTable) await createTable(connection, target, columns);
          else if (!stream.isAligned) await alignTable(connection, target, columns);
          const known = saved.generations[stream.plan.place];
          if (merge?.isKept && stream.hasTable && known && known.deduplicatedBy !== mergedBy(merge))
            await deduplicate(connection, target, columns, merge);
          if (stage.rowCount > 0)
            await loadRows(connection, target, columns, stage, merge, {
              extractedAt: nowText(),
              jobId,
            });
          await after();
        });
        stream.hasTable = true;
        stream.isAligned = true;
        return;
      } catch (error) {
        stream.hasTable = hasTable;
        if (error instanceof ConnectorError || !(await widen(connection, columns, stage)))
          throw error;
        stream.isAligned = !hasTable;
      }
    }
  }

  /**
   * Makes the staged rows durable with what is known of them; `generation` has no state when
   * nothing can go on from here.
   */
  async function commit(stream: OpenStream, generation: SavedGeneration): Promise<void> {
    const { saved, plan } = stream;
    const generations = { ...saved.generations, [plan.place]: generation };
    await load(stream, stream.target, () =>
      saveTable(connection, owner, saved, generations, nowText()),
    );
    Object.assign(saved.generations, generations);
    await committed(stream, generation.state);
  }

  async function committed(
    { saved, stage }: OpenStream,
    state: JsonValue | undefined,
  ): Promise<void> {
    const rowCount = stage.rowCount;
    await stage.clear();
    pace.committed();
    order.onCommitted?.({
      stream: saved.stream,
      rowCount,
      ...(state === undefined ? {} : { state }),
    });
  }

  async function complete(stream: OpenStream): Promise<void> {
    const { saved, ordered, plan, target, columns } = stream;
    const state = stream.covered?.state ?? saved.generations[plan.place]?.state;
    const kept = ordered.configured.sync_mode === "incremental" ? state : undefined;
    const before = plan.completion === "add" ? (saved.generations.current?.rowCount ?? 0) : 0;
    let current = generationOf(stream, kept, before);
    const save = () => saveTable(connection, owner, saved, { current }, nowText());
    const dropOld = async () => {
      if (saved.generations.current) await connection.run(`DROP TABLE ${tableName(saved.table)}`);
    };
    const isOfJob = `${ownColumns.jobId} = $1`;
    /** The job did this before, and was killed before anybody knew. */
    const dropRepeated = async () => {
      const dropped = await connection.run(
        `DELETE FROM ${tableName(saved.table)} WHERE ${isOfJob}`,
        [jobId],
      );
      current = generationOf(stream, kept, before - dropped.rowsChanged);
    };
    /**
     * What an earlier job has begun is this one's from now on: a later attempt of it must find all
     * of its rows.
     */
    const takeOver = async () => {
      if (plan.isResumed && destinationModeOf(ordered.configured) === "append")
        await connection.run(`UPDATE ${tableName(target)} SET ${isOfJob} WHERE NOT ${isOfJob}`, [
          jobId,
        ]);
    };
    if (plan.completion === "none") await load(stream, target, save);
    else if (plan.completion === "add") {
      const addTo = async () => {
        await dropRepeated();
        await takeOver();
        await alignTable(connection, saved.table, columns);
        await addRows(connection, target, saved.table, columns);
        await connection.run(`DROP TABLE ${tableName(target)}`);
        await save();
      };
      if (stream.hasTable) await load(stream, target, addTo);
      else
        await load(
          { ...stream, hasTable: true, isAligned: false },
          saved.table,
          save,
          dropRepeated,
        );
    }
    // All rows are still staged, as of most tables of a large database: no copy aside is needed.
    else if (!stream.hasTable) await load(stream, saved.table, save, dropOld);
    else {
      await load(stream, target, async () => {
        await takeOver();
        await dropOld();
        await connection
          .run(`ALTER TABLE ${tableName(target)} RENAME TO ${quoteName(saved.table.name)}`)
          .catch((error) => {
            throw isTaken(error) ? tableConflict(saved.table) : error;
          });
        await moveTombstones(connection, target, saved.table);
        await save();
      });
    }
    delete saved.generations.next;
    saved.generations.current = current;
    await committed(stream, kept);
    endedCount += 1;
    if (endedCount % checkpointEvery === 0) await database.checkpoint(connection);
  }

  /** Keeps what the last checkpoint covers; a copy that nothing can resume is removed. */
  async function abandon(stream: OpenStream): Promise<void> {
    await stream.stage.cutToCovered();
    if (stream.covered) await commit(stream, stream.covered);
    else if (stream.plan.place === "next" && !stream.plan.isResumed && stream.hasTable)
      await dropNext(stream.saved);
  }

  async function end(
    stream: StreamDescriptor,
    finish: (stream: OpenStream) => Promise<void>,
  ): Promise<void> {
    const ended = streamAt(stream);
    openStreams.delete(streamKey(stream));
    try {
      await finish(ended);
    } finally {
      await ended.stage.remove();
    }
  }

  return {
    lineFormat: "rows",
    savedState: () =>
      order.streams.flatMap((ordered) => {
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
    write: (stream, lines, rowCount) =>
      working(async () => {
        const open = streamAt(stream);
        await open.stage.add(lines, rowCount);
        open.rowCount += rowCount;
        if (open.stage.rowCount >= bulkRows && isFree(open))
          await commit(open, generationOf(open, undefined));
      }),
    checkpoint: (stream, state, rowCount) =>
      working(async () => {
        const open = streamAt(stream);
        pace.add(rowCount);
        const { sync_mode, stream: described } = open.ordered.configured;
        if (sync_mode === "full_refresh" && !described.is_resumable) return;
        open.covered = generationOf(open, state);
        open.stage.markCovered();
        if (pace.isDue("checkpoint")) await commit(open, open.covered);
      }),
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
        await working(async () => {
          for (const { saved } of [...openStreams.values()]) await end(saved.stream, abandon);
        });
      } finally {
        for (const { stage } of openStreams.values()) await stage.remove().catch(() => undefined);
        connection.closeSync();
        await database[Symbol.asyncDispose]();
      }
    },
  };
}

/**
 * Tables that are not yet checkpointed are held in memory, about 0.5 MB each; DuckDB itself looks
 * at the rows only.
 */
const checkpointEvery = 500;

/** Rows loaded at a time where no checkpoint decides it. */
const bulkRows = 100_000;
