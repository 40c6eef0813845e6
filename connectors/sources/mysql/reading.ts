/** The columns that are read of a table, and how rows become batches. */
import {
  type BatchField,
  ConnectorError,
  type Output,
  type SelectedStream,
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
} from "svc-connectors/database";
import { inSnapshot, type Session } from "./api.ts";
import type { Column, Table } from "./catalog.ts";
import type { Fields } from "./client.ts";
import { createBatchBuilder, type FilledField } from "./columns.ts";
import { filterOf } from "./row-filter.ts";
import type { MysqlContext } from "./spec.ts";
import { describeTable, fromOf, ofTable } from "./streams.ts";
import { encoderFor } from "./types.ts";

/** Values are texts that the server reads back as the same value; of bytes they are in hex. */
export const state = Type.Union([alongKeyState, alongCursorState]);

/** Reads a table from one snapshot: what others commit meanwhile is left to the next run. */
export async function* readTable(
  ctx: MysqlContext,
  session: Session,
  stream: SelectedStream,
  saved: RowState | undefined,
): AsyncGenerator<Output<RowState>> {
  const work = async function* (): AsyncGenerator<Output<RowState>> {
    const table = await describeTable(ctx, session, stream);
    const plan = planReading(table, stream, saved, sql);
    const fields = streamFields(stream);
    const { page_size: pageSize } = ctx.config;
    yield* readRows(plan, {
      filter: filterOf(table, stream),
      pageSize,
      log: ctx.log,
      async count(query) {
        const [row] = await session.client.query(query);
        return Number(row?.[0]);
      },
      rows: (query) => queryRows(session, table, fields, query, pageSize),
    });
  };
  yield* inSnapshot(session, work);
}

async function* queryRows(
  { client }: Session,
  table: Table,
  properties: readonly BatchField[],
  { from, tracked, rowsLeft }: RowsQuery<Column>,
  maxRows: number,
): AsyncGenerator<QueriedRows<Column>> {
  const wanted = new Set(properties.map(({ name }) => name));
  const columns = table.columns.filter(
    (column) => wanted.has(column.name) || tracked.includes(column),
  );
  const list = columns.map(({ name, type }) => type.select(ofTable(name)));
  const builder = createBatchBuilder(
    properties.map((field) => fill(field, columns)),
    maxRows,
  );
  let last: Fields | undefined;
  const take = (): QueriedRows<Column> => ({
    bytes: builder.bytes,
    batch: builder.take(),
    textOf(column) {
      const field = last?.[columns.indexOf(column)];
      return field ? column.type.toText(field) : "";
    },
  });
  for await (const group of client.rows(`SELECT ${list.length > 0 ? list : "1"}${from}`))
    for (const fields of group) {
      if (builder.rowCount >= rowsLeft() || !builder.add(fields)) {
        yield take();
        builder.add(fields);
      }
      last = fields;
    }
  if (builder.rowCount > 0) yield take();
}

/** A property that is part of the key has to have its column. @throws RECORD_INVALID */
function fill(field: BatchField, columns: readonly Column[]): FilledField {
  const place = columns.findIndex(({ name }) => name === field.name);
  const column = columns[place];
  const encode = column && encoderFor(field.kind, column.type);
  if (field.isKey && !encode)
    throw new ConnectorError("RECORD_INVALID", {
      problem: `the column ${field.name}, which is a key, has changed since the table was discovered: discover it again`,
    });
  return { field, encode, place: column ? place : undefined };
}

const sql: ReadingSql<Column> = {
  ofTable,
  fromOf,
  literalOf: ({ type }, value) => type.toLiteral(value),
  behind,
};

/** `a > x OR (a = x AND (b > y OR …))`, which the server finds in the key's index. */
function behind(
  [column, ...columns]: readonly Column[],
  [value, ...values]: readonly string[],
): string {
  if (!column) return "FALSE";
  const name = ofTable(column.name);
  if (columns.length === 0) return `${name} > ${value}`;
  return `(${name} >= ${value} AND (${name} > ${value} OR (${behind(columns, values)})))`;
}
