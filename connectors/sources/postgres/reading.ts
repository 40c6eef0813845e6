/** The parts of a table that are read, their order, and the state of a checkpoint. */
import { escapeIdentifier, escapeLiteral } from "pg";
import {
  type BatchField,
  type Output,
  type SelectedStream,
  type Static,
  streamFields,
  Type,
} from "svc-connectors";
import {
  alongCursorState,
  alongKeyState,
  planReading,
  type QueriedRows,
  type ReadingSql,
  type RowState,
  type RowsQuery,
  readRows,
  stateInvalid,
} from "svc-connectors/database";
import { inSnapshot, type Session } from "./api.ts";
import type { Column, Table } from "./catalog.ts";
import { copyRows } from "./copy.ts";
import { isDataException } from "./failures.ts";
import { batchBytes, planProjection } from "./projection.ts";
import { conditionsOf, tryConditions } from "./row-filter.ts";
import type { PostgresContext } from "./spec.ts";
import { askAtBegin, describeTable, fromOf, ofTable } from "./streams.ts";
import { requireVisible } from "./visible.ts";

/** The table as it was (replication/identity.ts): a later run sees what the log has not told. */
const tableState = Type.Object(
  // `parts` are the table and its partitions, unless there are too many; before `changedAt` the log
  // has rows of other columns.
  {
    oid: Type.Integer(),
    published: Type.String(),
    parts: Type.Optional(Type.Array(Type.String())),
    columns: Type.Array(Type.String()),
    changedAt: Type.Optional(Type.String({ pattern: "^[0-9A-F]{1,8}/[0-9A-F]{1,8}$" })),
  },
  { additionalProperties: false },
);
export type TableState = Static<typeof tableState>;

const changesState = Type.Object(
  // All transactions before the place in the log have been read; with `rows`, those that the
  // snapshot has not given yet are still to be.
  {
    mode: Type.Literal("changes"),
    system: Type.String(),
    lsn: Type.String({ pattern: "^[0-9A-F]{1,8}/[0-9A-F]{1,8}$" }),
    rows: Type.Optional(alongKeyState),
    // States of before have none.
    table: Type.Optional(tableState),
  },
  { additionalProperties: false },
);

export const state = Type.Union([alongKeyState, alongCursorState, changesState]);
export type State = Static<typeof state>;
export type ChangesState = Static<typeof changesState>;

/**
 * How many rows a query may give at most, by what it is. Undefined: all. Only asked of a query
 * whose last row is in the state.
 */
export type RangeOf = (select: string) => Promise<number | undefined>;

export interface ReadOptions {
  /** As of inSnapshot. */
  readonly snapshot?: string | undefined;
  /** Columns that the table does not have itself. */
  readonly addedColumns?: readonly Column[] | undefined;
  /** Default: all rows are read. */
  readonly rangeOf?: RangeOf | undefined;
}

/**
 * Reads a table from one snapshot: what others commit meanwhile is left to the next run.
 * @throws DATA_CHANGED as {@link requireVisible}
 */
export async function* readTable(
  ctx: PostgresContext,
  session: Session,
  stream: SelectedStream,
  saved: RowState | undefined,
  { snapshot, addedColumns = [], rangeOf }: ReadOptions = {},
): AsyncGenerator<Output<RowState>> {
  // The description is part of the snapshot: no column changes between it and the rows.
  const work = async function* (asked: Begun): AsyncGenerator<Output<RowState>> {
    const described = await describeTable(ctx, session, stream, asked);
    const table = { ...described, columns: [...described.columns, ...addedColumns] };
    const plan = planReading(table, stream, saved, sql);
    const conditions = conditionsOf(table, stream);
    await seeOperators(session, [...plan.order, ...conditions.map(({ column }) => column)]);
    await tryConditions(session, table, conditions);
    const fields = streamFields(stream);
    const { page_size: pageSize } = ctx.config;
    yield* readRows(plan, {
      filter: conditions.map((one) => one.sql),
      pageSize,
      log: ctx.log,
      isValueRefused: isDataException,
      count: (query) => countRows(session, query),
      rows: (query) => queryRows(session, table, fields, query, { maxRows: pageSize, rangeOf }),
    });
  };
  const begin = askAtBegin(ctx, session, stream);
  // Without rows an incremental read stays where it is, and the next one finds them.
  const isWhole = stream.syncMode === "full_refresh";
  const end = isWhole ? (step: string) => requireVisible(session, step) : undefined;
  yield* inSnapshot(session, work, { hasTimeout: false, snapshot, begin, end });
}

async function countRows({ client }: Session, query: string): Promise<number> {
  const { rows } = await client.query<{ count: string }>(query);
  return Number(rows[0]?.count);
}

type Begun = Awaited<ReturnType<ReturnType<typeof askAtBegin>>>;

async function* queryRows(
  session: Session,
  table: Table,
  fields: readonly BatchField[],
  { from, tracked, cursor }: RowsQuery<Column>,
  { maxRows, rangeOf }: { readonly maxRows: number } & Pick<ReadOptions, "rangeOf">,
): AsyncGenerator<QueriedRows<Column>> {
  const projection = planProjection(table, fields, tracked, session.spare);
  const select = `SELECT ${projection.list}${from}`;
  const limit = tracked.length === 0 ? undefined : await rangeOf?.(select);
  const copied = copyRows(session, limit === undefined ? select : `${select} LIMIT ${limit}`, {
    ...projection,
    maxRows,
    endless: cursor && endlessOf(cursor, projection.placeOf(cursor)),
  });
  for await (const { batch, last } of copied)
    yield {
      batch,
      bytes: batchBytes(batch),
      textOf(column) {
        const field = last(projection.placeOf(column));
        const text = field === null ? "" : column.type.toText(field);
        return column === cursor && column.type.isEndless && isEndless(text) ? undefined : text;
      },
    };
  session.spare.giveBack();
}

const sql: ReadingSql<Column> = {
  ofTable,
  fromOf,
  literalOf: ({ typeName }, value) => `${escapeLiteral(value)}::${typeName}`,
  behind: (columns, literals) =>
    `${toRowValue(columns.map(({ name }) => ofTable(name)))} > ${toRowValue(literals)}`,
};

const toRowValue = (parts: readonly string[]) =>
  parts.length === 1 ? `${parts[0]}` : `ROW(${parts.join(", ")})`;

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

const isEndless = (value: string) =>
  value === "infinity" || value === "Infinity" || value === "NaN";

const endlessOf = ({ type }: Column, index: number) =>
  type.isEndless && { index, isEndless: type.isEndless };

/** @throws STATE_INVALID for the state of a table that was read from the log */
export function requireOfRows(
  saved: State | undefined,
  { namespace = "", name }: SelectedStream,
): RowState | undefined {
  if (saved?.mode !== "changes") return saved;
  throw stateInvalid({ schema: namespace, name }, "is of a read from the log");
}
