/** The parts of a table that are read, their order, and the state of a checkpoint. */
import {
  type BatchField,
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
import type { Fields } from "./client.ts";
import { createBatchBuilder, type Filled } from "./columns.ts";
import { filterOf } from "./row-filter.ts";
import type { MysqlContext } from "./spec.ts";
import { describeTable, fromOf, hasOrderedKey, labelOf, ofTable } from "./streams.ts";
import { encoderFor } from "./types.ts";

/** Values are texts that the server reads back as the same value; of bytes they are in hex. */
export const state = Type.Union([
  Type.Object(
    {
      mode: Type.Literal("full_refresh"),
      key: Type.Array(Type.String()),
      after: Type.Array(Type.String()),
    },
    { additionalProperties: false },
  ),
  Type.Object(
    // The greatest value so far; null = no row had one, and those without have been read.
    {
      mode: Type.Literal("incremental"),
      cursor_field: Type.String(),
      cursor: Nullable(Type.String()),
    },
    { additionalProperties: false },
  ),
]);
type State = Static<typeof state>;

/** Bytes after which there is a checkpoint, though a page has not all its rows. */
const pageBytes = 8 * 1024 * 1024;

/** One query of a reading, and what its rows mean for the state. */
interface Part {
  readonly condition?: string | undefined;
  readonly order: readonly Column[];
  /** The state that is covered once this row and all before it are out. */
  readonly stateAfter?: (textOf: (column: Column) => string) => State;
  /** The state that is covered once the part is over. */
  readonly stateAtEnd?: State;
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
  ctx: MysqlContext,
  session: Session,
  stream: SelectedStream,
  saved: State | undefined,
): AsyncGenerator<Output<State>> {
  const work = async function* (): AsyncGenerator<Output<State>> {
    const table = await describeTable(ctx, session, stream);
    const cursor = stream.syncMode === "incremental" ? cursorOf(table, stream) : undefined;
    const parts = cursor ? alongCursor(cursor, saved, table) : alongKey(saved, table);
    const filter = filterOf(table, stream);
    const properties = streamFields(stream);
    const wanted = new Set(properties.map(({ name }) => name));

    for (const { condition, order, stateAfter, stateAtEnd } of parts) {
      const columns = table.columns.filter(
        (column) => wanted.has(column.name) || order.includes(column),
      );
      const list = columns.map(({ name, type }) => type.select(ofTable(name)));
      const conditions = [...(condition === undefined ? [] : [condition]), ...filter];
      const where = conditions.length === 0 ? "" : ` WHERE ${conditions.join(" AND ")}`;
      const by = order.length === 0 ? "" : ` ORDER BY ${order.map(({ name }) => ofTable(name))}`;
      const query = `SELECT ${list.length > 0 ? list : "1"} FROM ${fromOf(table)}${where}${by}`;
      const stateOf = (fields: Fields) =>
        stateAfter?.((column) => {
          const field = fields[columns.indexOf(column)];
          return field ? column.type.toText(field) : "";
        });
      const builder = createBatchBuilder(
        properties.map((field) => fill(field, columns)),
        ctx.config.page_size,
      );
      let rowCount = 0;
      let rowsSince = 0;
      let bytesSince = 0;
      let last: Fields | undefined;
      const out = function* (): Generator<Output<State>> {
        if (builder.rowCount === 0 || !last) return;
        rowsSince += builder.rowCount;
        bytesSince += builder.bytes;
        yield batch(builder.take());
        if (rowsSince < ctx.config.page_size && bytesSince < pageBytes) return;
        const reached = stateOf(last);
        if (reached) yield checkpoint(reached);
        [rowsSince, bytesSince] = [0, 0];
      };
      for await (const group of session.client.rows(query))
        for (const fields of group) {
          if (rowsSince + builder.rowCount >= ctx.config.page_size || !builder.add(fields)) {
            yield* out();
            builder.add(fields);
          }
          rowCount++;
          last = fields;
        }
      yield* out();
      const reached = last && rowsSince > 0 ? stateOf(last) : undefined;
      if (reached) yield checkpoint(reached);
      if (!stateAtEnd || rowCount === 0) continue;
      yield checkpoint(stateAtEnd);
      ctx.log.warn(
        "Rows without a value in the cursor field are read by the first sync, and again when they get one.",
        { stream: labelOf(table), cursorField: cursor?.name ?? "", count: rowCount },
      );
    }
  };
  yield* inSnapshot(session, work);
}

/** A property that is part of the key has to have its column. @throws RECORD_INVALID */
function fill(field: BatchField, columns: readonly Column[]): Filled {
  const place = columns.findIndex(({ name }) => name === field.name);
  const column = columns[place];
  const encode = column && encoderFor(field.kind, column.type);
  if (field.isKey && !encode)
    throw new ConnectorError("RECORD_INVALID", {
      problem: `the column ${field.name}, which is a key, has changed since the table was discovered: discover it again`,
    });
  return { field, encode, place: column ? place : undefined };
}

function alongKey(saved: State | undefined, table: Table): Part[] {
  if (saved && saved.mode !== "full_refresh")
    throw invalidState(table, "belongs to another sync mode");
  const names = hasOrderedKey(table) ? table.primaryKey : [];
  if (saved && (names.join("\0") !== saved.key.join("\0") || saved.after.length !== names.length))
    throw invalidState(table, "belongs to another primary key");
  if (names.length === 0) return [{ order: [] }];
  const key = keyOf(table);
  return [
    {
      condition: saved && behind(key, saved.after, table),
      order: key,
      stateAfter: (textOf) => ({
        mode: "full_refresh",
        key: [...names],
        after: key.map((column) => textOf(column)),
      }),
    },
  ];
}

const keyOf = ({ columns, primaryKey }: Table) =>
  primaryKey.flatMap((name) => columns.filter((column) => column.name === name));

/** `a > x OR (a = x AND (b > y OR …))`, which the server finds in the key's index. */
function behind(key: readonly Column[], after: readonly string[], table: Table): string {
  const [column, ...rest] = key;
  if (!column) return "FALSE";
  const name = ofTable(column.name);
  const value = literalOf(column, after[0] ?? "", table);
  if (rest.length === 0) return `${name} > ${value}`;
  const further = behind(rest, after.slice(1), table);
  return `(${name} >= ${value} AND (${name} > ${value} OR (${further})))`;
}

function alongCursor(cursor: Column, saved: State | undefined, table: Table): Part[] {
  if (saved && saved.mode !== "incremental")
    throw invalidState(table, "belongs to another sync mode");
  if (saved && saved.cursor_field !== cursor.name)
    throw invalidState(table, "belongs to another cursor field");
  const name = ofTable(cursor.name);
  const stateOf = (value: string | null): State => ({
    mode: "incremental",
    cursor_field: cursor.name,
    cursor: value,
  });
  const value = saved?.cursor ?? undefined;
  const body: Part = {
    condition:
      value === undefined ? `${name} IS NOT NULL` : `${name} >= ${literalOf(cursor, value, table)}`,
    order: [cursor, ...keyOf(table).filter((column) => column !== cursor)],
    stateAfter: (textOf) => stateOf(textOf(cursor)),
  };
  // Apart from the others, so that an index on the cursor field serves those.
  const withoutValue: Part = { condition: `${name} IS NULL`, order: [], stateAtEnd: stateOf(null) };
  return saved === undefined && cursor.isNullable ? [withoutValue, body] : [body];
}

function cursorOf(table: Table, { cursorField = "" }: SelectedStream): Column {
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

function literalOf({ type }: Column, value: string, table: Table): string {
  const literal = type.toLiteral(value);
  if (literal === undefined) throw invalidState(table, "does not fit its column");
  return literal;
}

const invalidState = (table: Table, problem: string) =>
  new ConnectorError("STATE_INVALID", { stream: labelOf(table), path: "state", problem });
