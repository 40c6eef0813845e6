/** How staged rows and what is known of them become durable: together, under the fence. */
import { ConnectorError, type JsonValue } from "svc-connectors";
import type { TableColumn } from "./columns.ts";
import { loadRows, widenTexts, widenToRows } from "./load.ts";
import { deduplicate, mergedBy, moveTombstones } from "./merge.ts";
import type { OpenStream } from "./open-stream.ts";
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
import { inFencedTransaction, saveGenerations, type Writing } from "./writing.ts";

/** Steps that a load takes in its transaction besides. */
export interface LoadSteps {
  readonly before?: (() => Promise<void>) | undefined;
  readonly after: () => Promise<void>;
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
      let tableColumns: readonly TableColumn[] = [];
      await inFencedTransaction(writing, async () => {
        await steps.before?.();
        tableColumns = await fill(writing, stream, target);
        await steps.after();
      });
      stream.tableColumns = tableColumns;
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

/**
 * Makes or aligns the table, and brings the staged rows into it. Gives the columns that it has
 * then.
 */
async function fill(
  writing: Writing,
  stream: OpenStream,
  target: Table,
): Promise<readonly TableColumn[]> {
  const { connection, command, clock } = writing;
  const { columns, stage, merge, saved, hasTable } = stream;
  const tableColumns = await fitTable(connection, stream, target);
  const known = saved.generations[stream.plan.place];
  if (merge?.isKept && hasTable && known && known.deduplicatedBy !== mergedBy(merge))
    await deduplicate(connection, target, columns, merge);
  if (stage.rowCount > 0)
    await loadRows(
      connection,
      { table: target, tableColumns, isNew: !hasTable },
      columns,
      stage,
      merge,
      {
        extractedAtMs: clock.now(),
        jobId: command.jobId,
      },
    );
  stream.hasTable = true;
  return tableColumns;
}

/** Makes the table, or widens it, so that it holds what is there and what is staged. */
async function fitTable(
  connection: Writing["connection"],
  { columns, stage, hasTable, tableColumns: known }: OpenStream,
  target: Table,
): Promise<readonly TableColumn[]> {
  if (!hasTable) {
    widenToRows(columns, stage);
    return createTable(connection, target, columns);
  }
  const tableColumns = known ?? (await readColumns(connection, target));
  widenToTable(columns, tableColumns);
  widenToRows(columns, stage);
  return alignTable(connection, target, columns, tableColumns);
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
  await load(writing, stream, target, {
    after: () => saveGenerations(writing, saved, generations),
  });
  Object.assign(saved.generations, generations);
  await reportCommitted(writing, stream, generation.state);
}

/** Empties the stage, whose rows are in the table now, and tells the caller. */
export async function reportCommitted(
  { pace, command }: Writing,
  { saved, stage }: OpenStream,
  state: JsonValue | undefined,
): Promise<void> {
  const rowCount = stage.rowCount;
  await stage.clear();
  pace.committed();
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
