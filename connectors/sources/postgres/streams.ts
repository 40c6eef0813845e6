import { escapeIdentifier } from "pg";
import { ConnectorError, type SelectedStream, type Stream } from "svc-connectors";
import {
  createTableNames,
  type DatabaseQuery,
  describeQueries,
  discoverTables,
  labelOf,
  queryOf,
  toStream,
} from "svc-connectors/database";
import { inSnapshot, type Session } from "./api.ts";
import {
  askForTable,
  countTables,
  listTables,
  selectChosen,
  type Table,
  type TableAnswer,
  toAskedTable,
} from "./catalog.ts";
import { describeQuery } from "./queries.ts";
import {
  logProblem,
  type PublishedTable,
  publishedTables,
  tableKey,
} from "./replication/server.ts";
import { addedProperties, lsnField } from "./replication/settings.ts";
import type { PostgresContext } from "./spec.ts";

export const { ofTable, fromOf } = createTableNames(escapeIdentifier);

const hint =
  'Narrow it with include_tables / exclude_tables, for instance include_tables: ["public.order*"] or exclude_tables: ["archive.*"].';

/**
 * All tables that the role may read, in the order of their names.
 * @throws TOO_MANY_TABLES before the first one
 */
export async function* discoverStreams(
  ctx: PostgresContext,
  session: Session,
): AsyncGenerator<Stream> {
  const { queries, replication } = ctx.config;
  const chosen = selectChosen(ctx.config);
  const published = replication && (await publishedTables(session, replication));
  yield* discoverTables<Table>(ctx, {
    queries,
    hint,
    countTables: () => countTables(session, chosen),
    listTables: () => inSnapshot(session, () => listTables(session, chosen)),
    describeQuery: describeIn(session),
    streamOf(table) {
      const found = published?.get(tableKey(table.schema, table.name));
      const problem = found && logProblem(table, found);
      if (problem !== undefined)
        ctx.log.warn("The log has no changes of this table that can be read.", {
          stream: labelOf(table),
          reason: problem,
        });
      return found && problem === undefined ? toLogStream(table, found) : toStream(table);
    },
  });
}

/** @throws as {@link describeQuery} */
export async function tryQueries({ config: { queries } }: PostgresContext, session: Session) {
  for await (const _ of describeQueries(queries, describeIn(session)));
}

/** Describes queries, each in a transaction of its own. */
const describeIn = (session: Session) => async (query: DatabaseQuery) => {
  let table: Table | undefined;
  for await (const one of inSnapshot(session, () => described(session, query))) table = one;
  return table as Table;
};

async function* described(session: Session, query: DatabaseQuery): AsyncGenerator<Table> {
  yield await describeQuery(session, query);
}

/** A stream that goes on by the log: its cursor is the place there. */
function toLogStream(table: Table, { generated }: PublishedTable): Stream {
  const columns = table.columns.filter(({ name }) => !generated.includes(name));
  const { proposedCursors: _, ...stream } = toStream({ ...table, columns });
  const { properties } = stream.schema as { readonly properties: object };
  return {
    ...stream,
    schema: { type: "object", properties: { ...properties, ...addedProperties } },
    syncModes: ["full_refresh", "incremental"],
    cursorField: lsnField,
    // The log gives changes of all rows.
    supportsRowFilter: false,
  };
}

/** Begins a transaction, and asks in the same message for the table of a stream. */
export const askAtBegin =
  ({ config }: PostgresContext, session: Session, selected: SelectedStream) =>
  async (steps: string): Promise<Awaited<TableAnswer> | undefined> => {
    if (!queryOf(config, selected)) return askForTable(session, ...nameOf(selected), steps);
    await session.client.query(steps);
    return undefined;
  };

const nameOf = ({ namespace = "public", name }: SelectedStream) => [namespace, name] as const;

/**
 * The table of a stream as it is now, or the result of its query. Needs a transaction.
 * @param asked what {@link askAtBegin} got. Default: it is asked for
 * @throws STREAM_UNKNOWN, PERMISSION_DENIED, QUERY_REFUSED, QUERY_FAILED
 */
export async function describeTable(
  { config }: PostgresContext,
  session: Session,
  selected: SelectedStream,
  asked?: Awaited<TableAnswer>,
): Promise<Table> {
  const query = queryOf(config, selected);
  if (query) return describeQuery(session, query);
  const [schema, name] = nameOf(selected);
  const stream = labelOf({ schema, name });
  const rows = asked ?? (await askForTable(session, schema, name));
  const table = await toAskedTable(session, rows);
  if (!table) throw new ConnectorError("STREAM_UNKNOWN", { stream });
  if (!table.isReadable) throw new ConnectorError("PERMISSION_DENIED", { stream });
  return table;
}
