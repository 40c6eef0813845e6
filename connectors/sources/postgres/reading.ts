/** The parts of a table that are read, their order, and the state of a checkpoint. */
import { escapeIdentifier, escapeLiteral } from "pg";
import {
  batch,
  ConnectorError,
  checkpoint,
  Nullable,
  type Output,
  type SelectedStream,
  type Static,
  streamFields,
  Type,
} from "svc-connectors";
import { inSnapshot, type Session } from "./api.ts";
import type { Column, Table } from "./catalog.ts";
import { copyRows } from "./copy.ts";
import { isDataException } from "./failures.ts";
import { batchBytes, planProjection } from "./projection.ts";
import { filteredColumns, filterOf } from "./row-filter.ts";
import type { PostgresContext } from "./spec.ts";
import { describeTable, fromOf, labelOf, ofTable } from "./streams.ts";

/** Values are the server's own text, which it reads back as the same value. */
const alongKeyState = Type.Object(
  {
    mode: Type.Literal("full_refresh"),
    key: Type.Array(Type.String()),
    after: Type.Array(Type.String()),
  },
  { additionalProperties: false },
);
const alongCursorState = Type.Object(
  // The greatest value so far; null = no row had one, and those without have been read.
  {
    mode: Type.Literal("incremental"),
    cursor_field: Type.String(),
    cursor: Nullable(Type.String()),
  },
  { additionalProperties: false },
);
const changesState = Type.Object(
  // All transactions before the place in the log have been read; with `rows`, those that the
  // snapshot has not given yet are still to be.
  {
    mode: Type.Literal("changes"),
    system: Type.String(),
    lsn: Type.String({ pattern: "^[0-9A-F]{1,8}/[0-9A-F]{1,8}$" }),
    rows: Type.Optional(alongKeyState),
  },
  { additionalProperties: false },
);

export const state = Type.Union([alongKeyState, alongCursorState, changesState]);
export type State = Static<typeof state>;
type RowState = Static<typeof alongKeyState> | Static<typeof alongCursorState>;
export type ChangesState = Static<typeof changesState>;

export interface ReadOptions {
  /** As of inSnapshot. */
  readonly snapshot?: string | undefined;
  /** Columns that the table does not have itself. */
  readonly addedColumns?: readonly Column[] | undefined;
}

/** Bytes after which there is a checkpoint, though a page has not all its rows. */
const pageBytes = 8 * 1024 * 1024;

/** One query of a reading, and what its rows mean for the state. */
interface Part {
  readonly condition?: string | undefined;
  readonly order: readonly Column[];
  /**
   * The state that is covered once this row and all before it are out; undefined = nothing that
   * could be said.
   */
  readonly stateAfter?: (fieldOf: (column: Column) => string | null) => RowState | undefined;
  /** The state that is covered once the part is over. */
  readonly stateAtEnd?: RowState;
  /** Rows without end in this column are kept apart: they must not move the state. */
  readonly endless?: Column | undefined;
}

/**
 * Reads a table from one snapshot: what others commit meanwhile is left to the next run.
 *
 * Full refresh goes along the primary key and goes on behind the last one; without a key it is one
 * pass that starts anew. Incremental goes along the cursor field and begins *at* the saved value:
 * rows that came later with the same value are found, at the price of reading the others with that
 * value once more.
 */
export async function* readTable(
  ctx: PostgresContext,
  session: Session,
  stream: SelectedStream,
  saved: RowState | undefined,
  { snapshot, addedColumns = [] }: ReadOptions = {},
): AsyncGenerator<Output<RowState>> {
  // The description is part of the snapshot: no column changes between it and the rows.
  const work = async function* (): AsyncGenerator<Output<RowState>> {
    const described = await describeTable(ctx, session, stream);
    const table = { ...described, columns: [...described.columns, ...addedColumns] };
    const key = table.primaryKey.flatMap((name) =>
      table.columns.filter((column) => column.name === name),
    );
    const cursor = stream.syncMode === "incremental" ? cursorOf(table, stream) : undefined;
    const parts = cursor
      ? alongCursor(cursor, key, saved, table)
      : alongKey(table.sql === undefined ? key : [], saved, table);
    const ordered = cursor ? [cursor, ...key] : key;
    await seeOperators(session, [...ordered, ...filteredColumns(table, stream)]);
    const filter = await filterOf(session, table, stream);

    const fields = streamFields(stream);
    for (const { condition, order, stateAfter, stateAtEnd, endless } of parts) {
      const tracked = order.filter((column) => cursor === undefined || column === cursor);
      const projection = planProjection(table, fields, tracked);
      const conditions = [...(condition === undefined ? [] : [condition]), ...filter];
      const where = conditions.length === 0 ? "" : ` WHERE ${conditions.join(" AND ")}`;
      const by = order.length === 0 ? "" : ` ORDER BY ${order.map(({ name }) => ofTable(name))}`;
      const query = `SELECT ${projection.list} FROM ${fromOf(table)}${where}${by}`;
      const copied = copyRows(session, query, {
        ...projection,
        maxRows: ctx.config.page_size,
        endless: endless && endlessOf(endless, projection.placeOf(endless)),
      });
      let rowCount = 0;
      let rowsSince = 0;
      let bytesSince = 0;
      let reached: RowState | undefined;
      try {
        for await (const { batch: rows, last } of copied) {
          rowCount += rows.rowCount;
          rowsSince += rows.rowCount;
          bytesSince += batchBytes(rows);
          const before = reached;
          reached = stateAfter?.((column) => {
            const field = last(projection.placeOf(column));
            return field === null ? null : column.type.toText(field);
          });
          // The last state before rows of which nothing can be said.
          if (before && !reached) yield checkpoint(before);
          yield batch(rows);
          if (rowsSince < ctx.config.page_size && bytesSince < pageBytes) continue;
          if (reached) yield checkpoint(reached);
          reached = undefined;
          rowsSince = 0;
          bytesSince = 0;
        }
        if (reached) yield checkpoint(reached);
      } catch (error) {
        // Before the first row it is the saved value that its column's type refuses.
        if (saved && rowCount === 0 && table.sql === undefined && isDataException(error))
          throw invalidState(table, "does not fit its column");
        throw error;
      }
      if (!stateAtEnd || rowCount === 0) continue;
      yield checkpoint(stateAtEnd);
      const message =
        "Rows without a value in the cursor field are read by the first sync, and again when they get one.";
      ctx.log.warn(message, {
        stream: labelOf(table),
        cursorField: cursor?.name ?? "",
        count: rowCount,
      });
    }
  };
  yield* inSnapshot(session, work, { hasTimeout: false, snapshot });
}

function alongKey(key: readonly Column[], saved: RowState | undefined, table: Table): Part[] {
  if (saved && saved.mode !== "full_refresh")
    throw invalidState(table, "belongs to another sync mode");
  const names = key.map(({ name }) => name);
  if (saved && (names.join("\0") !== saved.key.join("\0") || saved.after.length !== names.length)) {
    throw invalidState(table, "belongs to another primary key");
  }
  if (key.length === 0) return [{ order: [] }];
  return [
    {
      condition:
        saved &&
        `${toRowValue(names.map(escapeIdentifier))} > ${toRowValue(toLiterals(key, saved.after))}`,
      order: key,
      stateAfter: (fieldOf) => ({
        mode: "full_refresh",
        key: names,
        after: key.map((column) => fieldOf(column) ?? ""),
      }),
    },
  ];
}

function alongCursor(
  cursor: Column,
  key: readonly Column[],
  saved: RowState | undefined,
  table: Table,
): Part[] {
  if (saved && saved.mode !== "incremental")
    throw invalidState(table, "belongs to another sync mode");
  if (saved && saved.cursor_field !== cursor.name)
    throw invalidState(table, "belongs to another cursor field");
  const name = escapeIdentifier(cursor.name);
  const stateOf = (value: string | null): RowState => ({
    mode: "incremental",
    cursor_field: cursor.name,
    cursor: value,
  });
  const value = saved?.cursor ?? undefined;
  const condition =
    value === undefined ? `${name} IS NOT NULL` : `${name} >= ${toLiterals([cursor], [value])[0]}`;
  const body: Part = {
    condition,
    order: [cursor, ...key.filter((column) => column !== cursor)],
    stateAfter: (fieldOf) => {
      const reached = fieldOf(cursor);
      return cursor.type.isEndless && isEndless(reached) ? undefined : stateOf(reached);
    },
    endless: cursor.type.isEndless ? cursor : undefined,
  };
  // Apart from the others, so that an index on the cursor field serves those.
  const withoutValue: Part = { condition: `${name} IS NULL`, order: [], stateAtEnd: stateOf(null) };
  return saved === undefined && cursor.isNullable ? [withoutValue, body] : [body];
}

function cursorOf(table: Table, { cursorField = "" }: SelectedStream): Column {
  const column = table.columns.find(({ name }) => name === cursorField);
  if (column?.type.isOrderable) return column;
  const problem = column
    ? "the cursor field has no order"
    : "the cursor field is no column of the table";
  throw new ConnectorError("SYNC_MODE_UNSUPPORTED", {
    stream: labelOf(table),
    syncMode: "incremental",
    problem,
  });
}

/**
 * Operators of types that are not built in are looked up by name: their schema has to be on the
 * path.
 */
export async function seeOperators({ client }: Session, columns: readonly Column[]): Promise<void> {
  const schemas = new Set(
    columns.map(({ typeSchema }) => typeSchema).filter((schema) => schema !== "pg_catalog"),
  );
  if (schemas.size === 0) return;
  const added = [...schemas]
    .map((schema) => escapeLiteral(`, ${escapeIdentifier(schema)}`))
    .join(" || ");
  await client.query(
    `SELECT pg_catalog.set_config('search_path', pg_catalog.current_setting('search_path') || ${added}, true)`,
  );
}

const isEndless = (value: string | null | undefined) =>
  value === "infinity" || value === "Infinity" || value === "NaN";

const endlessOf = ({ type }: Column, index: number) =>
  type.isEndless && { index, isEndless: type.isEndless };

const toRowValue = (parts: readonly string[]) =>
  parts.length === 1 ? `${parts[0]}` : `ROW(${parts.join(", ")})`;

const toLiterals = (columns: readonly Column[], values: readonly string[]) =>
  columns.map(({ typeName }, index) => `${escapeLiteral(values[index] ?? "")}::${typeName}`);

/** @throws STATE_INVALID for the state of a table that was read from the log */
export function requireOfRows(
  saved: State | undefined,
  { namespace = "", name }: SelectedStream,
): RowState | undefined {
  if (saved?.mode !== "changes") return saved;
  throw invalidState({ schema: namespace, name }, "is of a read from the log");
}

const invalidState = (table: Pick<Table, "schema" | "name">, problem: string) =>
  new ConnectorError("STATE_INVALID", { stream: labelOf(table), path: "state", problem });
