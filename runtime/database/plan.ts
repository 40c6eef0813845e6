/** The parts of a table that are read, their order, and what their rows mean for the state. */
import { ConnectorError } from "../contract/errors.ts";
import type { SelectedStream } from "../contract/stream.ts";
import { type RowState, stateInvalid } from "./state.ts";
import {
  type DatabaseColumn,
  type DatabaseTable,
  keyColumns,
  labelOf,
  resumableKey,
  type TableNames,
} from "./tables.ts";

/** SQL that each database has in its own form. */
export interface ReadingSql<Column extends DatabaseColumn> extends TableNames {
  /** A saved value in SQL; undefined when it cannot be one of the column's type. */
  literalOf(column: Column, value: string): string | undefined;
  /**
   * The condition of rows behind the one with these values, in the order of the columns: the form
   * of it that the server finds in the key's index.
   */
  behind(columns: readonly Column[], literals: readonly string[]): string;
}

/** One query of a reading, and what its rows mean for the state. */
export interface Part<Column extends DatabaseColumn> {
  readonly condition?: string | undefined;
  readonly order: readonly Column[];
  /** Columns of which the state needs the last value. */
  readonly tracked: readonly Column[];
  /**
   * The state that is covered once the last row and all before it are out; undefined = nothing that
   * could be said.
   */
  readonly stateAfter?: (textOf: (column: Column) => string | undefined) => RowState | undefined;
  /** The state that is covered once the part is over, of so many rows. */
  readonly stateAtEnd?: ((rowCount: number) => RowState) | undefined;
}

/** The rows that are read of a table, and in which order. */
export interface ReadingPlan<Column extends DatabaseColumn> {
  readonly table: DatabaseTable<Column>;
  readonly saved: RowState | undefined;
  /** The cursor field of an incremental read. */
  readonly cursor: Column | undefined;
  /** All columns that are compared or ordered by. */
  readonly order: readonly Column[];
  readonly parts: readonly Part<Column>[];
  readonly sql: ReadingSql<Column>;
  readonly unread?: UnreadRows | undefined;
}

/** Rows that no run reads: they have no value in the cursor field, and the first sync is over. */
export interface UnreadRows {
  readonly condition: string;
  /** So many of them have been read, by the first sync. */
  readonly readCount: number;
  /** Later states say that it is no more than so many. */
  readonly note: (count: number) => void;
}

/**
 * Full refresh goes along the primary key and goes on behind the last one; without a key it is one
 * pass that starts anew. Incremental goes along the cursor field and begins *at* the saved value:
 * rows that came later with the same value are found, at the price of reading the others with that
 * value once more.
 * @throws SYNC_MODE_UNSUPPORTED, STATE_INVALID
 */
export function planReading<Column extends DatabaseColumn>(
  table: DatabaseTable<Column>,
  stream: SelectedStream,
  saved: RowState | undefined,
  sql: ReadingSql<Column>,
): ReadingPlan<Column> {
  const cursor = stream.syncMode === "incremental" ? cursorOf(table, stream) : undefined;
  const order = cursor ? [cursor, ...keyColumns(table)] : resumableKey(table);
  const planned = cursor
    ? alongCursor(cursor, saved, table, sql)
    : { parts: alongKey(resumableKey(table), saved, table, sql) };
  return { table, saved, cursor, order, sql, ...planned };
}

function alongKey<Column extends DatabaseColumn>(
  key: readonly Column[],
  saved: RowState | undefined,
  table: DatabaseTable<Column>,
  sql: ReadingSql<Column>,
): Part<Column>[] {
  if (saved && saved.mode !== "full_refresh")
    throw stateInvalid(table, "belongs to another sync mode");
  const names = key.map(({ name }) => name);
  if (saved && (names.join("\0") !== saved.key.join("\0") || saved.after.length !== names.length))
    throw stateInvalid(table, "belongs to another primary key");
  if (key.length === 0) return [{ order: [], tracked: [] }];
  const after = saved?.after;
  const literals =
    after && key.map((column, index) => literalOf(column, after[index] ?? "", table, sql));
  return [
    {
      condition: literals && sql.behind(key, literals),
      order: key,
      tracked: key,
      stateAfter: (textOf) => ({
        mode: "full_refresh",
        key: names,
        after: key.map((column) => textOf(column) ?? ""),
      }),
    },
  ];
}

function alongCursor<Column extends DatabaseColumn>(
  cursor: Column,
  saved: RowState | undefined,
  table: DatabaseTable<Column>,
  sql: ReadingSql<Column>,
): Pick<ReadingPlan<Column>, "parts" | "unread"> {
  if (saved && saved.mode !== "incremental")
    throw stateInvalid(table, "belongs to another sync mode");
  if (saved && saved.cursor_field !== cursor.name)
    throw stateInvalid(table, "belongs to another cursor field");
  const name = sql.ofTable(cursor.name);
  let without = saved?.without ?? 0;
  const stateOf = (value: string | null): RowState => ({
    mode: "incremental",
    cursor_field: cursor.name,
    cursor: value,
    ...(without > 0 ? { without } : {}),
  });
  const value = saved?.cursor ?? undefined;
  const body: Part<Column> = {
    condition:
      value === undefined
        ? `${name} IS NOT NULL`
        : `${name} >= ${literalOf(cursor, value, table, sql)}`,
    order: [cursor, ...keyColumns(table).filter((column) => column !== cursor)],
    tracked: [cursor],
    stateAfter: (textOf) => {
      const reached = textOf(cursor);
      return reached === undefined ? undefined : stateOf(reached);
    },
  };
  // Apart from the others, so that an index on the cursor field serves those.
  const withoutValue: Part<Column> = {
    condition: `${name} IS NULL`,
    order: [],
    tracked: [],
    stateAtEnd(rowCount) {
      without = rowCount;
      return stateOf(null);
    },
  };
  if (!cursor.isNullable) return { parts: [body] };
  if (saved === undefined) return { parts: [withoutValue, body] };
  const note = (count: number) => {
    without = Math.min(without, count);
  };
  const unread = { condition: `${name} IS NULL`, readCount: without, note };
  return { parts: [body], unread: isQuick(cursor, table) ? unread : undefined };
}

/** Most rows that are looked through for those without a value, where no index leads to them. */
const maxLookedThrough = 1_000_000;

/** Whether rows without a value are found in a moment. */
const isQuick = (cursor: DatabaseColumn, { sql, estimatedRows = Infinity }: DatabaseTable) =>
  sql === undefined && (cursor.isIndexed || estimatedRows <= maxLookedThrough);

function cursorOf<Column extends DatabaseColumn>(
  table: DatabaseTable<Column>,
  { cursorField = "" }: SelectedStream,
): Column {
  const column = table.columns.find(({ name }) => name === cursorField);
  if (column?.type.isOrderable) return column;
  throw new ConnectorError("SYNC_MODE_UNSUPPORTED", {
    stream: labelOf(table),
    syncMode: "incremental",
    problem: column
      ? "the cursor field has no order"
      : "the cursor field is no column of the table",
  });
}

function literalOf<Column extends DatabaseColumn>(
  column: Column,
  value: string,
  table: DatabaseTable<Column>,
  sql: ReadingSql<Column>,
): string {
  const literal = sql.literalOf(column, value);
  if (literal === undefined) throw stateInvalid(table, doesNotFit);
  return literal;
}

/** The fault of a saved value, as words behind its name. */
export const doesNotFit = "does not fit its column";
