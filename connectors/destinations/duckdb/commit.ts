/** How staged rows and what is known of them become durable: together, under the fence. */
import { ConnectorError, type JsonValue } from "svc-connectors";
import type { TableColumn } from "./columns.ts";
import { type Loaded, loadRows, nothingLoaded, widenTexts, widenToRows } from "./load.ts";
import { deduplicate, mergeByOtherKeys, mergedBy } from "./merge.ts";
import type { OpenStream } from "./open-stream.ts";
import { areRepeated } from "./repeated.ts";
import { noteTypes } from "./seen-types.ts";
import type { SavedGeneration, SavedTable } from "./state.ts";
import {
  alignTable,
  createTable,
  nextTable,
  readColumns,
  type Table,
  tableName,
  widenToTable,
} from "./tables.ts";
import { moveTombstones } from "./tombstones.ts";
import { inFencedTransaction, saveGenerations, type Writing } from "./writing.ts";

/** Steps that a load takes in its transaction besides. */
export interface LoadSteps {
  readonly before?: (() => Promise<void>) | undefined;
  /** @param isChanged the target is another one than before */
  readonly after: (isChanged: boolean) => Promise<void>;
}

/**
 * Loads the staged rows into `target`, between `before` and `after`, in one transaction; columns
 * are widened until every value fits. The table is made in that transaction too: it is known to be
 * ours from the moment it exists.
 */
export async function load(
  writing: Writing,
  stream: OpenStream,
  target: Table,
  steps: LoadSteps,
): Promise<void> {
  const { columns, stage, hasTable } = stream;
  for (;;) {
    try {
      let filled: FillResult = { tableColumns: [], ...nothingLoaded };
      await inFencedTransaction(writing, async () => {
        await steps.before?.();
        filled = await fill(writing, stream, target);
        await steps.after(filled.isChanged);
      });
      stream.tableColumns = filled.tableColumns;
      writing.nulled.add(stream.saved.stream, filled.nulledCount);
      if (filled.isChanged) writing.unwritten.columnCount += filled.tableColumns.length;
      return;
    } catch (error) {
      stream.hasTable = hasTable;
      const isRefused = error instanceof ConnectorError;
      if (isRefused || !(await widenTexts(writing.connection, columns, stage))) throw error;
    }
    // A column was widened: the table may not know it.
    stream.tableColumns = undefined;
  }
}

interface FillResult extends Loaded {
  readonly tableColumns: readonly TableColumn[];
}

/** Makes or aligns the table, and brings the staged rows into it. */
async function fill(writing: Writing, stream: OpenStream, target: Table): Promise<FillResult> {
  const { connection, command, clock } = writing;
  const { columns, stage, merge, saved, hasTable } = stream;
  const { tableColumns, isChanged } = await fitTable(connection, stream, target);
  const known = saved.generations[stream.plan.place];
  const isMergedAnew =
    merge?.isKept && hasTable && known && known.deduplicatedBy !== mergedBy(merge);
  if (isMergedAnew && known.deduplicatedBy !== undefined)
    await mergeByOtherKeys(connection, target, tableColumns, merge);
  else if (isMergedAnew) await deduplicate(connection, target, columns, merge, clock.now());
  const to = { table: target, tableColumns, isNew: !hasTable };
  const stamp = { extractedAtMs: clock.now(), jobId: command.jobId };
  const loaded =
    stage.rowCount > 0
      ? await loadRows(connection, to, columns, stage, merge, stamp)
      : nothingLoaded;
  stream.hasTable = true;
  return {
    tableColumns,
    isChanged: isChanged || isMergedAnew === true || loaded.isChanged,
    nulledCount: loaded.nulledCount,
  };
}

/** Makes the table, or widens it, so that it holds what is there and what is staged. */
async function fitTable(
  connection: Writing["connection"],
  { columns, stage, hasTable, tableColumns: known }: OpenStream,
  target: Table,
): Promise<Omit<FillResult, "nulledCount">> {
  if (!hasTable) {
    widenToRows(columns, stage);
    return { tableColumns: await createTable(connection, target, columns), isChanged: true };
  }
  const before = known ?? (await readColumns(connection, target));
  widenToTable(columns, before);
  widenToRows(columns, stage);
  const tableColumns = await alignTable(connection, target, columns, before);
  const isChanged =
    tableColumns.length > before.length ||
    tableColumns.some(({ type }, index) => type !== before[index]?.type);
  return { tableColumns, isChanged };
}

/**
 * Whether there is nothing to commit: no column came and no row that the table lacks, and what is
 * known of its copies is what is saved already. Then nothing is touched, not even the fence.
 */
export async function isIdle(
  writing: Writing,
  stream: OpenStream,
  generations: SavedTable["generations"],
): Promise<boolean> {
  const { saved, stage, hasTable, hasNewColumns } = stream;
  if (!hasTable || hasNewColumns || !isSame(saved.generations, generations)) return false;
  return stage.rowCount === 0 || (await areRepeated(writing, stream));
}

const isSame = (one: SavedTable["generations"], other: SavedTable["generations"]) =>
  (["current", "next"] as const).every(
    (slot) => JSON.stringify(known(one[slot])) === JSON.stringify(known(other[slot])),
  );

/** How many rows came is told only whether there were any. */
const known = (generation: SavedGeneration | undefined) =>
  generation && [
    generation.mode,
    generation.destinationMode,
    generation.deduplicatedBy ?? null,
    generation.rowCount > 0,
    generation.state ?? null,
  ];

/** Saves what is known of the copies, when it or the table is another than before. */
export async function saveChanged(
  writing: Writing,
  { saved, hasNewColumns }: OpenStream,
  generations: SavedTable["generations"],
  isChanged: boolean,
): Promise<void> {
  if (isChanged || hasNewColumns || !isSame(saved.generations, generations))
    await saveGenerations(writing, saved, generations);
}

/**
 * Makes the staged rows durable with what is known of them; `generation` has no state when nothing
 * can go on from here.
 */
export async function commit(
  writing: Writing,
  stream: OpenStream,
  generation: SavedGeneration,
): Promise<void> {
  const { saved, plan, target } = stream;
  const generations = { ...saved.generations, [plan.place]: generation };
  if (!(await isIdle(writing, stream, generations))) {
    await noteTypes(writing, stream);
    await load(writing, stream, target, {
      after: (isChanged) => saveChanged(writing, stream, generations, isChanged),
    });
  }
  Object.assign(saved.generations, generations);
  await reportCommitted(writing, stream, generation.state);
}

/** So many bytes of rows are written before their memory is given back. */
const mostRemembered = 16 * 1024 * 1024;

/** Empties the stage, whose rows are in the table now, and tells the caller. */
export async function reportCommitted(
  { database, connection, pace, command, remembered }: Writing,
  { saved, stage }: OpenStream,
  state: JsonValue | undefined,
): Promise<void> {
  const rowCount = stage.rowCount;
  remembered.byteCount += stage.byteCount;
  await stage.clear();
  pace.committed();
  if (remembered.byteCount >= mostRemembered) {
    remembered.byteCount = 0;
    await database.trim(connection);
  }
  command.onCommitted?.({
    stream: saved.stream,
    rowCount,
    ...(state === undefined ? {} : { state }),
  });
}

/** Forgets the copy aside; its rows and its state go together. */
export async function dropNext(writing: Writing, saved: SavedTable): Promise<void> {
  const { connection } = writing;
  const { next: _, ...kept } = saved.generations;
  await inFencedTransaction(writing, async () => {
    const next = nextTable(saved.table);
    await connection.run(`DROP TABLE IF EXISTS ${tableName(next)}`);
    await moveTombstones(connection, next);
    await saveGenerations(writing, saved, kept);
  });
  delete saved.generations.next;
}
