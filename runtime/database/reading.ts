/** The rows of a table and the checkpoints between them. */
import type { Batch } from "../contract/batch.ts";
import type { BaseContext } from "../contract/context.ts";
import { batch, checkpoint, type Output } from "../contract/output.ts";
import { doesNotFit, type Part, type ReadingPlan } from "./plan.ts";
import { type RowState, stateInvalid } from "./state.ts";
import { type DatabaseColumn, labelOf } from "./tables.ts";

/** Bytes after which there is a checkpoint, though a page has not all its rows. */
const pageBytes = 8 * 1024 * 1024;

export interface RowsQuery<Column extends DatabaseColumn> {
  /** The SQL behind `SELECT …`: FROM, WHERE and ORDER BY. */
  readonly from: string;
  /**
   * Columns that have to be selected, whatever the stream has: the state needs their last values.
   */
  readonly tracked: readonly Column[];
  /** The rows are in the order of this cursor field. */
  readonly cursor: Column | undefined;
  /** Rows until the next checkpoint; it changes with each batch. */
  rowsLeft(): number;
}

/** Some rows that a query gave. */
export interface QueriedRows<Column extends DatabaseColumn> {
  readonly batch: Batch;
  /** Bytes of the values. */
  readonly bytes: number;
  /**
   * The last row's value as a text that the server reads back as the same; undefined when no state
   * may hold it, such as a time without end.
   */
  textOf(column: Column): string | undefined;
}

export interface RowsOptions<Column extends DatabaseColumn> {
  /** Further conditions of all rows. */
  readonly filter: readonly string[];
  /** Rows between two checkpoints. */
  readonly pageSize: number;
  readonly log: BaseContext<unknown>["log"];
  /** The columns of the stream, and those that are tracked, by a query that ends as told. */
  rows(query: RowsQuery<Column>): AsyncIterable<QueriedRows<Column>>;
  /**
   * The number that a query gives, in the same snapshot. Default: rows that no run reads are not
   * looked for.
   */
  count?(query: string): Promise<number>;
  /** Whether the server says that a value in the statement has the wrong form for its column. */
  isValueRefused?(error: unknown): boolean;
}

/** Reads what was planned, within one snapshot of the caller's. @throws STATE_INVALID */
export async function* readRows<Column extends DatabaseColumn>(
  plan: ReadingPlan<Column>,
  options: RowsOptions<Column>,
): AsyncGenerator<Output<RowState>> {
  const { table, cursor } = plan;
  await reportUnread(plan, options);
  for (const part of plan.parts) {
    const rowCount = yield* readPart(plan, part, options);
    if (!part.stateAtEnd || rowCount === 0) continue;
    yield checkpoint(part.stateAtEnd(rowCount));
    options.log.warn(
      "Rows without a value in the cursor field are read by the first sync, and again when they get one.",
      { stream: labelOf(table), cursorField: cursor?.name ?? "", count: rowCount },
    );
  }
}

/** So many rows that are not read are counted; of more it is told that they are more. */
const maxUnread = 10_000;
/** Where the first sync has read more without a value, nobody looks through them in each run. */
const maxReadBefore = 1_000_000;

async function reportUnread<Column extends DatabaseColumn>(
  { table, cursor, unread, sql }: ReadingPlan<Column>,
  { filter, count, log }: RowsOptions<Column>,
): Promise<void> {
  if (!unread || !count || unread.readCount > maxReadBefore) return;
  const { condition, readCount, note } = unread;
  const where = [condition, ...filter].join(" AND ");
  const rows = `SELECT 1 FROM ${sql.fromOf(table)} WHERE ${where} LIMIT ${readCount + maxUnread + 1}`;
  const found = await count(`SELECT count(*) FROM (${rows}) AS svc_unread`);
  note(found);
  if (found > readCount)
    log.warn(
      "Rows without a value in the cursor field have come since the first sync: they are not read before they get one.",
      {
        stream: labelOf(table),
        cursorField: cursor?.name ?? "",
        unreadRows: found - readCount,
      },
    );
}

/** Gives the number of rows. */
async function* readPart<Column extends DatabaseColumn>(
  { table, saved, cursor, sql }: ReadingPlan<Column>,
  { condition, order, tracked, stateAfter }: Part<Column>,
  { filter, pageSize, rows, isValueRefused }: RowsOptions<Column>,
): AsyncGenerator<Output<RowState>, number> {
  const conditions = [...(condition === undefined ? [] : [condition]), ...filter];
  const where = conditions.length === 0 ? "" : ` WHERE ${conditions.join(" AND ")}`;
  const by = order.length === 0 ? "" : ` ORDER BY ${order.map(({ name }) => sql.ofTable(name))}`;
  let rowCount = 0;
  let rowsSince = 0;
  let bytesSince = 0;
  let reached: RowState | undefined;
  try {
    const coming = rows({
      from: ` FROM ${sql.fromOf(table)}${where}${by}`,
      tracked,
      cursor: order.length === 0 ? undefined : cursor,
      rowsLeft: () => pageSize - rowsSince,
    });
    for await (const { batch: some, bytes, textOf } of coming) {
      rowCount += some.rowCount;
      rowsSince += some.rowCount;
      bytesSince += bytes;
      const before = reached;
      reached = stateAfter?.(textOf);
      // The last state before rows of which nothing can be said.
      if (before && !reached) yield checkpoint(before);
      yield batch(some);
      if (rowsSince < pageSize && bytesSince < pageBytes) continue;
      if (reached) yield checkpoint(reached);
      reached = undefined;
      rowsSince = 0;
      bytesSince = 0;
    }
    if (reached) yield checkpoint(reached);
  } catch (error) {
    // Before the first row it is the saved value that its column's type refuses.
    if (saved && rowCount === 0 && table.sql === undefined && isValueRefused?.(error))
      throw stateInvalid(table, doesNotFit);
    throw error;
  }
  return rowCount;
}
